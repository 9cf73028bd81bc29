package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// listUnmanaged runs the command for a simulator with a key. It checks that the command neither prints the key nor
// changes anything.
func listUnmanaged(t *testing.T, env *acctest.Env, key, stdin string, arguments ...string) (
	stdout, stderr string, code int,
) {
	t.Helper()
	u := newUser(t, "GPURENT_BASE_URL="+env.BaseURL, "GPURENT_API_KEY="+key)
	u.stdin = stdin
	before := len(env.Requests())
	stdout, stderr, code = u.run(append([]string{"unmanaged"}, arguments...)...)
	for _, request := range env.Requests()[before:] {
		if request.Method != "GET" {
			t.Errorf("%s %s", request.Method, request.Path)
		}
	}
	if err := acctest.Leak(key, map[string]string{"stdout": stdout, "stderr": stderr}); err != nil {
		t.Error(err)
	}
	return stdout, stderr, code
}

// rent creates a server outside of Terraform. further are fields of the request.
func rent(env *acctest.Env, name string, further ...string) (id string) {
	fields := append([]string{
		fmt.Sprintf(`"offer_id":%q,"disk_gb":60`, env.Offers("num_gpus=1")[0].ID), `"template":"pytorch"`,
	}, further...)
	if name != "" {
		encoded, err := json.Marshal(name)
		if err != nil {
			panic(err)
		}
		fields = append(fields, `"name":`+string(encoded))
	}
	return env.Post("instances", "{"+strings.Join(fields, ",")+"}")
}

// stateWith returns a state with instances.
func stateWith(ids ...string) string {
	var objects []string
	for _, id := range ids {
		objects = append(objects, fmt.Sprintf(`{"mode":"managed","type":"gpurent_instance","values":{"id":%q}}`, id))
	}
	return `{"format_version":"1.0","values":{"root_module":{"resources":[` + strings.Join(objects, ",") + `]}}}`
}

func TestUnmanaged_UsageErrors(t *testing.T) {
	const address = "https://rent.example/api/v1"
	testenv.SetHome(t, t.TempDir())
	t.Setenv("GPURENT_BASE_URL", address)
	for _, test := range []struct{ key, arguments, want string }{
		{"k", "--format yaml", `unknown format "yaml"`},
		{"k", "- x.json -", "standard input can be given only once"},
		{" ", "", "there is no API key for " + address + ": set GPURENT_API_KEY, or log in"},
	} {
		t.Setenv("GPURENT_API_KEY", test.key)
		stdout, stderr, code := run(append([]string{"unmanaged"}, strings.Fields(test.arguments)...)...)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit 2 and %q", test.arguments, code, stdout, stderr, test.want)
		}
	}
}

// A state of any number of files and of standard input makes a server managed.
func TestUnmanaged_ExitCodes(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	reader := env.Secret(`{"name":"reader","scopes":["instances:read"]}`)
	if stdout, stderr, code := listUnmanaged(t, env, reader, ""); code != 0 || stderr != "" ||
		strings.Count(stdout, "\n") != 1 {
		t.Errorf("an empty account: exit %d, %q, %q", code, stdout, stderr)
	}
	a, b := rent(env, "a"), rent(env, "b")
	env.Advance(time.Minute)
	const otherAccount = "Warning: The account at "
	for _, test := range []struct {
		args    []string
		code    int
		listed  []string
		summary string // a part of the last line
		warning string // a part of stderr
	}{
		{nil, 3, []string{a, b}, "No state was given", ""},
		{[]string{writeFile(t, stateWith())}, 3, []string{a, b}, "The given state contains 0 other billed servers", ""},
		{[]string{writeFile(t, stateWith(a))}, 3, []string{b}, "The given state contains 1 other billed server ", ""},
		{[]string{"--format", "table", "-"}, 3, []string{a}, "The 2 given states contain 1 other billed server ", ""},
		{[]string{writeFile(t, stateWith(a)), "-"}, 0, nil, "the 3 given states contain all billed servers", ""},
		{[]string{writeFile(t, stateWith("ins_other"))}, 3, []string{a, b}, "", otherAccount},
		{[]string{writeFile(t, stateWith("ins_other", a))}, 3, []string{b}, "", ""},
	} {
		stdout, stderr, code := listUnmanaged(t, env, reader, stateWith(b)+stateWith(), test.args...)
		var listed []string
		for _, id := range []string{a, b} {
			if strings.Contains(stdout, id) {
				listed = append(listed, id)
			}
		}
		if code != test.code || !slices.Equal(listed, test.listed) || !strings.Contains(stdout, test.summary) ||
			!strings.HasPrefix(stderr, test.warning) || (stderr != "") != (test.warning != "") {
			t.Errorf("%q: exit %d, stdout\n%s\nstderr %q", test.args, code, stdout, stderr)
		}
	}
}

// If the account or a state cannot be read, the output contains no servers.
func TestUnmanaged_Failures(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("all")) // a failure happens at a known request
	rent(env, "a")
	missing := filepath.Join(t.TempDir(), "missing.json")
	plan := writeFile(t, `{"format_version":"1.2","planned_values":{}}`)
	for name, test := range map[string]struct{ key, state, want string }{
		"missing file": {env.APIKey, missing, "cannot read the state in " + missing},
		"folder":       {env.APIKey, t.TempDir(), "cannot read the state in "},
		"plan":         {env.APIKey, plan, "without a plan file"},
		"empty input":  {env.APIKey, "-", "cannot read the state in -: it is empty"},
		"unknown key":  {strings.Repeat("x", 44), "", "The API rejected the key from GPURENT_API_KEY"},
		"missing scope": {env.Secret(`{"name":"b","scopes":["billing:read"]}`), "",
			"The API key from GPURENT_API_KEY needs the scope instances:read"},
	} {
		var states []string
		if test.state != "" {
			states = []string{test.state}
		}
		if stdout, stderr, code := listUnmanaged(t, env, test.key, "", states...); code != 1 || stdout != "" ||
			strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit 1 and %q", name, code, stdout, stderr, test.want)
		}
	}
	if n := env.CountRequests("GET", "/instances"); n != 2 {
		t.Errorf("%d requests, want those with a readable state", n)
	}
}
