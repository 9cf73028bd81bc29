package instance

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// callSSHConfig calls the function. The text of an unknown result is "<unknown>".
func callSSHConfig(t testing.TB, alias string, ssh attr.Value) (string, *function.FuncError) {
	t.Helper()
	resp := function.RunResponse{Result: function.NewResultData(types.StringUnknown())}
	arguments := function.NewArgumentsData([]attr.Value{types.StringValue(alias), types.DynamicValue(ssh)})
	NewSSHConfig().Run(t.Context(), function.RunRequest{Arguments: arguments}, &resp)
	text, ok := resp.Result.Value().(types.String)
	if !ok || text.IsNull() {
		t.Fatalf("%s is no text", resp.Result.Value())
	}
	if text.IsUnknown() {
		return text.String(), resp.Error
	}
	return text.ValueString(), resp.Error
}

// objectOf returns an object with the given attributes.
func objectOf(attributes map[string]attr.Value) types.Object {
	kinds := map[string]attr.Type{}
	for name, value := range attributes {
		kinds[name] = value.Type(context.Background())
	}
	return types.ObjectValueMust(kinds, attributes)
}

func loginObject(host string, port int64, user string) types.Object {
	return objectOf(map[string]attr.Value{
		"host": types.StringValue(host), "port": types.NumberValue(new(big.Float).SetInt64(port)),
		"user": types.StringValue(user), "command": types.StringNull(),
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
}

// Any object with host, port and user will do, and a map. Without an address, the result is a comment. Unknown values
// stay unknown.
func TestSSHConfig_AnyObject(t *testing.T) {
	host, port, user := types.StringValue("203.0.113.5"), types.StringValue("22"), types.StringValue("root")
	number := types.NumberValue(big.NewFloat(22))
	type object = map[string]attr.Value
	const block = "Host a\n  HostName 203.0.113.5\n  Port 22\n  User root\n"
	const none = "# a: no SSH address now (stopped, or not assigned yet)\n"
	for _, test := range []struct {
		ssh       attr.Value
		want, err string
	}{
		{objectOf(object{"host": host, "port": number, "user": user}), block, ""},
		{objectOf(object{"host": host, "port": port, "user": user, "more": types.BoolValue(true)}), block, ""},
		{types.MapValueMust(types.StringType, object{"host": host, "port": port, "user": user}), block, ""},
		{objectOf(object{"host": host, "port": types.NumberNull(), "user": user}), none, ""},
		{tfinstance.SSHValue(nil), none, ""},
		{types.ObjectNull(tfinstance.SSHType), none, ""},
		{types.DynamicNull(), none, ""},
		{loginObject("k3v9xq0a", 0, "0zq81hd2"), none, ""}, // of a mock_provider
		{objectOf(object{"host": types.StringUnknown(), "port": number, "user": user}), "<unknown>", ""},
		{objectOf(object{"port": number, "user": user}), "", "host, port and user, such as the attribute ssh"},
		{objectOf(object{"port": number, "user": user}), "", "there is no host"},
		{objectOf(object{"host": host, "port": number}), "", "there is no user"},
		{host, "", "it must be an object"},
		{objectOf(object{"host": host, "port": types.NumberValue(big.NewFloat(22.5)), "user": user}), "", `port "22.5"`},
		{objectOf(object{"host": host, "port": host, "user": user}), "", `port "203.0.113.5" is not an integer`},
		{objectOf(object{"host": types.BoolValue(true), "port": number, "user": user}), "", "neither a host name"},
	} {
		got, err := callSSHConfig(t, "a", test.ssh)
		switch {
		case test.err == "" && (err != nil || got != test.want):
			t.Errorf("%s: got %q, %v, want %q", test.ssh, got, err, test.want)
		case test.err != "" && (err == nil || !strings.Contains(err.Text, test.err)):
			t.Errorf("%s: %v, want an error with %q", test.ssh, err, test.err)
		}
	}
}

func TestSSHConfig_InvalidArguments(t *testing.T) {
	const alias, host, port, user = "trainer", "203.0.113.5", 22, "root"
	refused := func(argument int64, words, alias string, ssh types.Object) {
		t.Helper()
		got, err := callSSHConfig(t, alias, ssh)
		switch {
		case err == nil:
			t.Errorf("%.20q, %.80s: passes as %q", alias, ssh, got)
		case err.FunctionArgument == nil || *err.FunctionArgument != argument,
			!strings.Contains(err.Text, words) || strings.HasSuffix(err.Text, ".") || len(err.Text) > 600:
			t.Errorf("got %.700q, want a part of a sentence about argument %d with %q", err.Text, argument, words)
		}
	}
	for _, alias := range []string{
		"", " ", "a b", "a\nHost *", "a\r", "a\n", "a\x00", "a\t", "#a", "a#", `"a"`, "'a'", "a*", "a?", "!a", "a,b", "a=b",
		"a/b", `a\b`, "a%h", "${HOME}", "~", "a@b", "a:b", "-v", "--", "сервер", "ａ", "\u00a0", "\u2028",
		"\xff", "[a]", strings.Repeat("x\n", 1<<16),
	} {
		refused(0, "is not a host alias", alias, loginObject(host, port, user))
		refused(0, "is not a host alias", alias, tfinstance.SSHValue(nil))
	}
	for _, host := range []string{
		"", " ", ".", "a..b", ".a", "a b", "a\n  ProxyCommand x", "a\n", "-a", "a-", "a.-b", "a#", "*", "a?", `"a"`, "a:22",
		"[2001:db8::5]", "fe80::1%eth0", "fe80::1%\nHost", "%h", "a/b", "1.2.3", "1.2.3.4.5", "999.1.1.1", "010.1.1.1", "12",
		"пример.рф", "root@a", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "aa", strings.Repeat("x ", 1<<16),
	} {
		refused(1, "neither a host name nor an IP address", alias, loginObject(host, port, user))
	}
	for _, port := range []int64{-1, 65536, math.MaxInt64, math.MinInt64} {
		refused(1, "not between 1 and 65535", alias, loginObject(host, port, user))
	}
	for _, user := range []string{
		"", " ", "a b", "1a", "-a", "$", "a$b", "a\n", "a\nHost *", `"a"`, "a#", "%u", "a@b", "юзер", "a=b", "a\u2028b",
	} {
		refused(1, "not a plain user name", alias, loginObject(host, port, user))
	}
}
