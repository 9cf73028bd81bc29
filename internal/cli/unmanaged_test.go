package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// unmanagedRun is a run of the command for a simulator.
type unmanagedRun struct {
	env       *acctest.Env
	key       string // API key; empty for that of the simulator
	stdin     string
	variables []string // replace the address and the key in the environment
}

// run runs the command, and checks that it neither prints the key nor changes anything.
func (r unmanagedRun) run(t *testing.T, arguments ...string) (stdout, stderr string, code int) {
	t.Helper()
	key := r.key
	if key == "" {
		key = r.env.APIKey
	}
	command := exec.CommandContext(t.Context(), os.Args[0], append([]string{"unmanaged"}, arguments...)...)
	command.Env = append(os.Environ(), envActAsBinary+"=1")
	if r.variables == nil {
		r.variables = append(testhome.Env(t.TempDir()), "GPURENT_BASE_URL="+r.env.BaseURL, "GPURENT_API_KEY="+key)
	}
	command.Env = append(command.Env, r.variables...)
	var output, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(r.stdin), &output, &problems
	before := len(r.env.Requests())
	err := command.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, request := range r.env.Requests()[before:] {
		if request.Method != "GET" || !strings.HasPrefix(request.Path, "/instances") {
			t.Errorf("%s %s", request.Method, request.Path)
		}
	}
	if err := acctest.Leak(key, map[string]string{"stdout": output.String(), "stderr": problems.String()}); err != nil {
		t.Error(err)
	}
	return output.String(), problems.String(), command.ProcessState.ExitCode()
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

// file writes a file for the test and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnmanaged_UsageErrors(t *testing.T) {
	const address = "https://rent.example/api/v1"
	for _, test := range []struct {
		baseURL, key, want string
		args               []string
	}{
		{address, "k", `unknown format "yaml"`, []string{"--format", "yaml"}},
		{address, "k", "flag provided but not defined", []string{"--api-key", "CANARY"}},
		{address, "k", "standard input can be given only once", []string{"-", "x.json", "-"}},
		{"", "", "the address of the service is missing", nil},
		{"", "CANARY", "the address of the service for the key in GPURENT_API_KEY is missing", nil},
		{address, " ", "there is no API key for " + address + ": set GPURENT_API_KEY, or log in", nil},
		{"", "", "there is no API key for " + address, []string{"--base-url", address}},
		{"http://rent.example/api/v1", "CANARY", "https", nil},
		{address, "CANARY\nCANARY", "cannot be used", nil},
	} {
		testhome.Use(t, t.TempDir())
		t.Setenv("GPURENT_BASE_URL", test.baseURL)
		t.Setenv("GPURENT_API_KEY", test.key)
		var stdout, stderr bytes.Buffer
		code := cli.Main(append([]string{"unmanaged"}, test.args...), &stdout, &stderr)
		if text := stderr.String(); code != 2 || stdout.Len() > 0 || strings.Count(text, "\n") != 1 ||
			!strings.Contains(text, test.want) || strings.Contains(text, "CANARY") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want exit 2 and %q", test.args, code, &stdout, text, test.want)
		}
	}
}

// A state of any number of files and of standard input makes a server managed.
func TestUnmanaged_ExitCodes(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	r := unmanagedRun{env: env, key: env.Secret(`{"name":"reader","scopes":["instances:read"]}`)}
	if stdout, stderr, code := r.run(t); code != 0 || stderr != "" || strings.Count(stdout, "\n") != 1 {
		t.Errorf("an empty account: exit %d, %q, %q", code, stdout, stderr)
	}
	a, b := rent(env, "a"), rent(env, "b")
	env.Advance(time.Minute)
	r.stdin = stateWith(b) + stateWith()
	for _, test := range []struct {
		args     []string
		code     int
		listed   []string
		complete string // a part of the last line
	}{
		{nil, 2, []string{a, b}, "No state was given"},
		{[]string{file(t, stateWith())}, 2, []string{a, b}, "The given state contains 0 other billed servers"},
		{[]string{file(t, stateWith(a))}, 2, []string{b}, "The given state contains 1 other billed server "},
		{[]string{"--format", "table", "-"}, 2, []string{a}, "The 2 given states contain 1 other billed server "},
		{[]string{file(t, stateWith(a)), "-"}, 0, nil, "the 3 given states contain all 2 billed servers"},
	} {
		stdout, stderr, code := r.run(t, test.args...)
		var listed []string
		for _, id := range []string{a, b} {
			if strings.Contains(stdout, id) {
				listed = append(listed, id)
			}
		}
		if code != test.code || stderr != "" || !slices.Equal(listed, test.listed) ||
			!strings.Contains(stdout, test.complete) {
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
	for name, test := range map[string]struct {
		run  unmanagedRun
		args []string
		want string
	}{
		"missing file": {unmanagedRun{env: env}, []string{missing}, "cannot read the state in " + missing},
		"folder":       {unmanagedRun{env: env}, []string{t.TempDir()}, "cannot read the state in "},
		"plan": {
			unmanagedRun{env: env}, []string{file(t, `{"format_version":"1.2","planned_values":{}}`)}, "without a plan file",
		},
		"empty input": {unmanagedRun{env: env}, []string{"-"}, "cannot read the state in -: it is empty"},
		"unknown key": {unmanagedRun{env: env, key: strings.Repeat("x", 44)}, nil, "401 unauthorized"},
		"missing scope": {
			unmanagedRun{env: env, key: env.Secret(`{"name":"b","scopes":["billing:read"]}`)}, nil,
			"The API key needs the scope instances:read",
		},
	} {
		if stdout, stderr, code := test.run.run(t, test.args...); code != 1 || stdout != "" ||
			strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit 1 and %q", name, code, stdout, stderr, test.want)
		}
	}
	if n := env.CountRequests("GET", "/instances"); n != 2 {
		t.Errorf("%d requests, want those with a readable state", n)
	}
	fault := simulator.Fault{Method: "GET", Path: "/instances", Status: 422}
	if err := env.AddFault(fault); err != nil {
		t.Fatal(err)
	}
	if stdout, _, code := (unmanagedRun{env: env}).run(t, "--format", "json"); code != 1 || stdout != "" {
		t.Errorf("a failed list: exit %d, %q", code, stdout)
	}
}

// A state of another account or address makes all servers unmanaged.
func TestUnmanaged_StateOfOtherAccount(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	id := rent(env, "a")
	env.Advance(time.Minute)
	r := unmanagedRun{env: env}
	const warning = "Warning: The account at "
	if stdout, stderr, code := r.run(t, file(t, stateWith("ins_other"))); code != 2 || !strings.Contains(stdout, id) ||
		!strings.Contains(stderr, warning) {
		t.Errorf("exit %d, %q, %q; want a warning", code, stdout, stderr)
	}
	if _, stderr, code := r.run(t, file(t, stateWith("ins_other", id))); code != 0 || strings.Contains(stderr, warning) {
		t.Errorf("exit %d, %q; want no warning", code, stderr)
	}
}

// Without variables, the command uses the current login, as the provider does.
func TestUnmanaged_UsesLogin(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	home := t.TempDir()
	path := filepath.Join(testhome.ConfigDir(home), "gpurent", "credentials.json")
	login := fmt.Sprintf(`{"current":%q,"credentials":{%[1]q:{"api_key":%q}}}`, env.BaseURL, env.APIKey)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(login), 0o600)); err != nil {
		t.Fatal(err)
	}
	r := unmanagedRun{env: env, variables: append(testhome.Env(home), "GPURENT_BASE_URL=", "GPURENT_API_KEY=")}
	if stdout, stderr, code := r.run(t); code != 0 || !strings.HasPrefix(stdout, "No unmanaged servers") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// With everything that the API document allows, exactly the servers without a state are listed, with their names. A
// server that the list contains counts as one of the account.
func TestUnmanaged_Quirks(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithQuirks("all"))
	var managed []string
	want := []string{"ins_stranger1", "ins_stranger2", "ins_stranger3"}
	for n := range 5 {
		managed = append(managed, rent(env, fmt.Sprintf("managed-%d", n)))
		want = append(want, rent(env, fmt.Sprintf("lost-%d", n)))
	}
	destroyed := rent(env, "destroyed")
	env.Advance(time.Minute)
	env.Delete("instances/" + destroyed)
	env.Advance(5 * time.Minute)
	r := unmanagedRun{env: env, stdin: stateWith(managed...)}
	for range 2 {
		stdout, stderr, code := r.run(t, "-", "--format=json")
		var document unmanaged.Document
		if err := json.Unmarshal([]byte(stdout), &document); err != nil {
			t.Fatalf("%v: %s%s", err, stdout, stderr)
		}
		var got []string
		for _, s := range document.Servers {
			got = append(got, s.ID)
			if strings.HasPrefix(s.ID, "ins_stranger") {
				continue
			}
			if s.Name == nil || !strings.HasPrefix(*s.Name, "lost-") || *s.Fleet != "lost" || s.BurnKopH == 0 ||
				s.AgeSeconds == nil || *s.AgeSeconds < 300 || *s.AgeSeconds > 3600 {
				t.Errorf("%+v", s)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if code != 2 || !slices.Equal(got, want) || document.ManagedServers != len(managed) || document.States != 1 ||
			stderr != "" {
			t.Errorf("exit %d, %q, want %q; %d managed, stderr %q", code, got, want, document.ManagedServers, stderr)
		}
	}
}
