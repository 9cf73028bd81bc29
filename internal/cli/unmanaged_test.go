package cli_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// listUnmanaged runs the command for a simulator with a key. It checks that the command neither prints the key nor
// changes anything.
func listUnmanaged(t *testing.T, env *acctest.Env, key string, arguments ...string) (stdout, stderr string, code int) {
	t.Helper()
	testenv.SetHome(t, t.TempDir())
	t.Setenv("GPURENT_BASE_URL", env.BaseURL)
	t.Setenv("GPURENT_API_KEY", key)
	before := len(env.Requests())
	stdout, stderr, code = run(append([]string{"unmanaged"}, arguments...)...)
	for _, request := range env.Requests()[before:] {
		if request.Method != "GET" {
			t.Errorf("%s %s", request.Method, request.Path)
		}
	}
	if err := acctest.Leak(key, map[string]string{"stdout": stdout, "stderr": stderr}); err != nil && key != "" {
		t.Error(err)
	}
	return stdout, stderr, code
}

// rent creates a server outside of Terraform.
func rent(env *acctest.Env, name string) (id string) {
	body, err := json.Marshal(map[string]any{
		"offer_id": env.Offers("num_gpus=1")[0].ID, "disk_gb": 60, "template": "pytorch", "name": name,
	})
	if err != nil {
		panic(err)
	}
	return env.Post("instances", string(body))
}

// stateWith returns a state with instances.
func stateWith(ids ...string) string {
	var objects []string
	for _, id := range ids {
		objects = append(objects, fmt.Sprintf(`{"mode":"managed","type":"gpurent_instance","values":{"id":%q}}`, id))
	}
	return `{"format_version":"1.0","values":{"root_module":{"resources":[` + strings.Join(objects, ",") + `]}}}`
}

// A state of any number of files makes a server managed.
func TestUnmanaged_ExitCodes(t *testing.T) {
	env := acctest.Start(t)
	reader := env.Secret(`{"name":"reader","scopes":["instances:read"]}`)
	if stdout, stderr, code := listUnmanaged(t, env, reader); code != 0 || stderr != "" ||
		strings.Count(stdout, "\n") != 1 {
		t.Errorf("an empty account: exit %d, %q, %q", code, stdout, stderr)
	}
	a, b := rent(env, "a"), rent(env, "b")
	env.Advance(time.Minute)
	withA, withB := writeFile(t, stateWith(a)), writeFile(t, stateWith(b)+stateWith())
	for _, test := range []struct {
		args    []string
		code    int
		listed  []string
		warning string // the start of stderr
	}{
		{nil, 3, []string{a, b}, ""},
		{[]string{"--format", "table", withB}, 3, []string{a}, ""},
		{[]string{withA, withB}, 0, nil, ""},
		{[]string{writeFile(t, stateWith("ins_other"))}, 3, []string{a, b}, "Warning: The account at "},
		{[]string{writeFile(t, stateWith("ins_other", a))}, 3, []string{b}, ""},
	} {
		stdout, stderr, code := listUnmanaged(t, env, reader, test.args...)
		listed := slices.DeleteFunc([]string{a, b}, func(id string) bool { return !strings.Contains(stdout, id) })
		if code != test.code || !slices.Equal(listed, test.listed) || !strings.HasPrefix(stderr, test.warning) ||
			(stderr != "") != (test.warning != "") {
			t.Errorf("%q: exit %d, stdout\n%s\nstderr %q", test.args, code, stdout, stderr)
		}
	}
}

// If the account or a state cannot be read, the output contains no servers.
func TestUnmanaged_Errors(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("all")) // a failure happens at a known request
	rent(env, "a")
	t.Chdir(t.TempDir())
	for arguments, test := range map[string]struct {
		key, want string
		code      int
	}{
		"--format yaml":  {env.APIKey, `unknown format "yaml"`, 2},
		"- x.json -":     {env.APIKey, "standard input can be given only once", 2},
		"missing.json":   {env.APIKey, "cannot read the state in missing.json", 1},
		"":               {"", "there is no API key for " + env.BaseURL + ": set GPURENT_API_KEY, or log in", 2},
		"--format table": {strings.Repeat("x", 44), "The API rejected the key from GPURENT_API_KEY", 1},
		"--format=json": {env.Secret(`{"name":"b","scopes":["billing:read"]}`),
			"The API key from GPURENT_API_KEY needs the scope instances:read", 1},
	} {
		stdout, stderr, code := listUnmanaged(t, env, test.key, strings.Fields(arguments)...)
		if code != test.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit %d and %q", arguments, code, stdout, stderr, test.code,
				test.want)
		}
	}
	if n := env.CountRequests("GET", "/instances"); n != 2 {
		t.Errorf("%d requests, want those with a readable state", n)
	}
}
