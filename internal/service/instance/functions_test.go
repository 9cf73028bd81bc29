package instance

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// callSSHConfig calls the function.
func callSSHConfig(t testing.TB, alias string, ssh types.Object) (string, *function.FuncError) {
	t.Helper()
	resp := function.RunResponse{Result: function.NewResultData(types.StringUnknown())}
	arguments := function.NewArgumentsData([]attr.Value{types.StringValue(alias), ssh})
	NewSSHConfig().Run(t.Context(), function.RunRequest{Arguments: arguments}, &resp)
	if resp.Error != nil {
		return "", resp.Error
	}
	text, ok := resp.Result.Value().(types.String)
	if !ok || text.IsUnknown() || text.IsNull() {
		t.Fatalf("%s is no text", resp.Result.Value())
	}
	return text.ValueString(), nil
}

func loginObject(host string, port int64, user string) types.Object {
	return types.ObjectValueMust(tfinstance.SSHType, map[string]attr.Value{
		"host": types.StringValue(
			host,
		),
		"port":    types.Int64Value(port),
		"user":    types.StringValue(user),
		"command": types.StringNull(),
	})
}

func TestSSHConfig(t *testing.T) {
	for _, l := range []struct {
		alias, host string
		port        int64
		user        string
	}{
		{"trainer", "203.0.113.5", 30022, "root"},
		{"TRAINER_1.eu-west", "gpu-7.rent.example", 22, "ubuntu"},
		{"_x", "2001:db8::5", 1, "_svc-1.x"},
		{"7", "localhost", 65535, "MACHINE$"},
		{".", "a_b.example.", 22, "a"},
		{"v4-in-v6", "::ffff:203.0.113.5", 22, "root"},
		{strings.Repeat("a", 200), strings.Repeat(strings.Repeat("a", 63)+".", 3) + "b", 22, "root"},
	} {
		want := fmt.Sprintf("Host %s\n  HostName %s\n  Port %d\n  User %s\n", l.alias, l.host, l.port, l.user)
		if got, err := callSSHConfig(t, l.alias, loginObject(l.host, l.port, l.user)); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	got, err := callSSHConfig(t, "trainer", types.ObjectNull(tfinstance.SSHType))
	if want := "# trainer: no SSH address now (stopped, or not assigned yet)\n"; err != nil || got != want {
		t.Errorf("without an address: got %q, %v, want %q", got, err, want)
	}
}

func TestSSHConfig_InvalidArguments(t *testing.T) {
	const alias, host, port, user = "trainer", "203.0.113.5", 22, "root"
	refused := func(name string, argument int64, words, alias string, ssh types.Object) {
		t.Helper()
		got, err := callSSHConfig(t, alias, ssh)
		switch {
		case err == nil:
			t.Errorf("%s: passes as %q", name, got)
		case err.FunctionArgument == nil || *err.FunctionArgument != argument,
			!strings.Contains(err.Text, words) || strings.HasSuffix(err.Text, "."):
			t.Errorf("%s: got %q, want a part of a sentence about argument %d with %q", name, err.Text, argument, words)
		case len(err.Text) > 600:
			t.Errorf("%s: %d bytes of error", name, len(err.Text))
		}
	}
	for _, alias := range []string{
		"", " ", "a b", "a\nHost *", "a\r", "a\n", "a\x00", "a\t", "#a", "a#", `"a"`, "'a'", "a*", "a?", "!a", "a,b", "a=b",
		"a/b", `a\b`, "a%h", "${HOME}", "~", "a@b", "a:b", "-v", "--", "сервер", "ａ", "\u00a0", "\xff",
		strings.Repeat("x\n", 1<<16),
	} {
		refused(fmt.Sprintf("alias %.20q", alias), 0, "is not a host alias", alias, loginObject(host, port, user))
		refused(
			fmt.Sprintf("alias %.20q without an address", alias),
			0,
			"is not a host alias",
			alias,
			types.ObjectNull(tfinstance.SSHType),
		)
	}
	for _, host := range []string{
		"", " ", ".", "a..b", ".a", "a b", "a\n  ProxyCommand x", "a\n", "-a", "a-", "a.-b", "a#", "*", "a:22",
		"[2001:db8::5]", "fe80::1%eth0", "fe80::1%\nHost", "%h", "a/b", "1.2.3", "1.2.3.4.5", "999.1.1.1", "010.1.1.1", "12",
		"пример.рф", "root@a", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "aa", strings.Repeat("x ", 1<<16),
	} {
		refused(
			fmt.Sprintf("host %.20q", host),
			1,
			"neither a host name nor an IP address",
			alias,
			loginObject(host, port, user),
		)
	}
	for _, port := range []int64{0, -1, 65536, math.MaxInt64, math.MinInt64} {
		refused(fmt.Sprintf("port %v", port), 1, "not between 1 and 65535", alias, loginObject(host, port, user))
	}
	for _, user := range []string{
		"", " ", "a b", "1a", "-a", "$", "a$b", "a\n", "a\nHost *", `"a"`, "a#", "%u", "a@b", "юзер", "a=b",
	} {
		refused(fmt.Sprintf("user %q", user), 1, "not a plain user name", alias, loginObject(host, port, user))
	}
	nulls := types.ObjectValueMust(tfinstance.SSHType, map[string]attr.Value{
		"host": types.StringValue(
			host,
		),
		"port":    types.Int64Null(),
		"user":    types.StringValue(user),
		"command": types.StringNull(),
	})
	refused("no port", 1, "port 0 is not between", alias, nulls)
}

// expectOneBlock fails unless the text is a comment line or one block of the four lines.
func expectOneBlock(t rapid.TB, text, alias, host, port, user string) {
	t.Helper()
	want := []string{"Host", alias, "HostName", host, "Port", port, "User", user}
	fields := strings.Fields(text)
	if strings.Join(fields, "|") != strings.Join(want, "|") || strings.Count(text, "\n") != 4 ||
		!strings.HasSuffix(text, "\n") ||
		strings.ContainsAny(text, "\r\"'#*?!\\") {
		t.Errorf("%q breaks out of its block", text)
	}
}

// The output has the same lines for any name.
func TestSSHConfig_OneBlock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plain := rapid.StringMatching(`[a-z][a-z0-9.-]{0,9}`)
		nasty := rapid.StringOf(rapid.RuneFrom([]rune("aZ0.-_$ \n\r\t#\"'*?!\\:%[]=,\u2028\u00a0я")))
		text := rapid.OneOf(plain, plain, nasty, rapid.String())
		alias, host, user := text.Draw(rt, "alias"), text.Draw(rt, "host"), text.Draw(rt, "user")
		port := rapid.IntRange(-1, 70000).Draw(rt, "port")
		if got, err := callSSHConfig(t, alias, loginObject(host, int64(port), user)); err == nil {
			expectOneBlock(rt, got, alias, host, fmt.Sprint(port), user)
		}
	})
}

func FuzzSSHConfig(f *testing.F) {
	f.Add("trainer", "203.0.113.5", int64(30022), "root")
	f.Add("a\nHost *", "a\n  ProxyCommand x", int64(-22), "a b")
	f.Add("_", "fe80::1%\n", int64(65536), "x$")
	f.Add("-", "[::1]", int64(-1), "$")
	f.Fuzz(func(t *testing.T, alias, host string, port int64, user string) {
		if got, err := callSSHConfig(t, alias, loginObject(host, port, user)); err == nil {
			expectOneBlock(t, got, alias, host, fmt.Sprint(port), user)
		}
		got, err := callSSHConfig(t, alias, types.ObjectNull(tfinstance.SSHType))
		if err == nil && (strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "# "+alias+":")) {
			t.Errorf("%q breaks out of its line", got)
		}
	})
}

// The ssh command parses a file of joined blocks as intended.
func TestSSHConfig_ParsedBySSH(t *testing.T) {
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("there is no ssh here")
	}
	var file strings.Builder
	for alias, login := range map[string]types.Object{
		"trainer": loginObject("203.0.113.5", 30022, "root"), "stopped": types.ObjectNull(tfinstance.SSHType),
		"six": loginObject("2001:db8::5", 30023, "svc$"),
	} {
		block, err := callSSHConfig(t, alias, login)
		if err != nil {
			t.Fatal(err)
		}
		file.WriteString(block + "\n")
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for alias, want := range map[string][]string{
		"trainer": {
			"hostname 203.0.113.5", "port 30022", "user root"}, "stopped": {"hostname stopped",
			"port 22"}, "six": {"hostname 2001:db8::5", "port 30023", "user svc$"},
	} {
		output, err := exec.CommandContext(t.Context(), ssh, "-G", "-F", path, alias).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		for _, line := range want {
			if !strings.Contains("\n"+string(output), "\n"+line+"\n") {
				t.Errorf("ssh does not parse for %s: %s\n%s", alias, line, output)
			}
		}
	}
}
