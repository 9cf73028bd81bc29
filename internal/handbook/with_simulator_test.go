package handbook_test

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shells are those of this machine that users' pipelines have as sh.
func shells(t *testing.T) map[string][]string {
	needs(t)
	t.Helper()
	found := map[string][]string{}
	for name, command := range map[string][]string{"sh": {"sh"}, "bash": {"bash"}, "dash": {"dash"}, "busybox": {"busybox", "sh"}} {
		if _, err := exec.LookPath(command[0]); err == nil {
			found[name] = command
		}
	}
	if len(found) == 0 {
		t.Skip("there is no shell here")
	}
	return found
}

// withSimulator runs with-simulator.sh with a program as the provider. This test binary is one.
func withSimulator(t *testing.T, program string, shell []string, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	line := append(append(shell[1:len(shell):len(shell)], example(exampleFolder, "with-simulator.sh")), arguments...)
	command := exec.CommandContext(t.Context(), shell[0], line...)
	command.Env = append(os.Environ(), "GPURENT_PROVIDER="+program, asBinary+"=1")
	var out, err bytes.Buffer
	command.Stdout, command.Stderr = &out, &err
	if err := command.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); !ended {
			t.Fatal(err)
		}
	}
	return command.ProcessState.ExitCode(), out.String(), err.String()
}

// addresses prints what the command finds, and ends as it is told.
const addresses = `echo "$GPURENT_BASE_URL $GPURENT_CONTROL_URL $GPURENT_API_KEY"; `

// stopped fails the test when the simulator of the first line still listens.
func stopped(t *testing.T, stdout string) {
	t.Helper()
	first, _, _ := strings.Cut(stdout, " ")
	address, err := url.Parse(first)
	if err != nil || address.Host == "" {
		t.Fatalf("no address in %q", stdout)
	}
	var dialer net.Dialer
	if conn, err := dialer.DialContext(t.Context(), "tcp", address.Host); err == nil {
		t.Errorf("the simulator is still there: %s, %v", address.Host, conn.Close())
	}
}

const listening, told = "simulator is listening", "The simulator's log"

func TestWithSimulatorRunsAndStops(t *testing.T) {
	key := "test" + strings.Repeat("0", 40)
	for name, shell := range shells(t) {
		for what, test := range map[string]struct {
			arguments []string
			code      int
			stdout    string // in it
			log       bool   // whether the simulator's log is shown
		}{
			"a command that succeeds":          {[]string{"sh", "-c", addresses}, 0, "/control ", false},
			"one that fails":                   {[]string{"sh", "-c", addresses + "exit 3"}, 3, "/control ", true},
			"flags of the simulator":           {[]string{"--clock", "manual", "--api-key", key, "--", "sh", "-c", addresses}, 0, key, false},
			"arguments as they are":            {[]string{"--seed", "1", "--", "sh", "-c", addresses + `printf '[%s]' "$@"`, "x", "a b", "--", ""}, 0, "[a b][--][]", false},
			"flags of the command":             {[]string{"sh", "-c", addresses + `printf '[%s]' "$@"`, "x", "--", "-y"}, 0, "[--][-y]", false},
			"no flags before --":               {[]string{"--", "sh", "-c", addresses}, 0, "/control ", false},
			"the script is told to end":        {[]string{"sh", "-c", addresses + "kill -TERM $PPID"}, 143, "/control ", true},
			"the command talks to the service": {[]string{"sh", "-c", addresses + `curl -fsS -H "Authorization: Bearer $GPURENT_API_KEY" "$GPURENT_BASE_URL/me"`}, 0, "demo@rent.example", false},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				if strings.Contains(strings.Join(test.arguments, " "), "curl") {
					needs(t, "curl")
				}
				code, stdout, stderr := withSimulator(t, os.Args[0], shell, test.arguments...)
				if code != test.code || !strings.Contains(stdout, test.stdout) {
					t.Errorf("exit %d, stdout %q, want %d and %q\n%s", code, stdout, test.code, test.stdout, stderr)
				}
				if shown := strings.Contains(stderr, told) && strings.Contains(stderr, listening); shown != test.log {
					t.Errorf("stderr %q; want the log in it: %t", stderr, test.log)
				}
				stopped(t, stdout)
			})
		}
	}
}

func TestWithSimulatorSaysWhatIsWrong(t *testing.T) {
	for name, shell := range shells(t) {
		for _, test := range []struct {
			arguments []string
			code      int
			stderr    string
		}{
			{nil, 2, "usage:"},
			{[]string{"--seed", "1"}, 2, "usage:"},
			{[]string{"--seed", "1", "--"}, 2, "usage:"},
			{[]string{"--clock", "sun", "--", "true"}, 1, "must be \"real\" or \"manual\""},
		} {
			code, stdout, stderr := withSimulator(t, os.Args[0], shell, test.arguments...)
			if code != test.code || stdout != "" || !strings.Contains(stderr, test.stderr) {
				t.Errorf("%s: %q: exit %d, stdout %q, stderr %q; want %d and %q", name, test.arguments, code, stdout, stderr, test.code, test.stderr)
			}
		}
	}
}

// A simulator that crashes must not let a command pass that did not need it.
func TestWithSimulatorTellsOfACrash(t *testing.T) {
	program := filepath.Join(t.TempDir(), "crashes")
	text := "#!/bin/sh\necho lost its head >&2\necho '{\"base_url\":\"http://127.0.0.1:1/api/v1\",\"control_url\":\"c\",\"api_key\":\"k\"}'\nexit 5\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, shell := range shells(t) {
		code, _, stderr := withSimulator(t, program, shell, "true")
		if code != 1 || !strings.Contains(stderr, "ended by itself") || !strings.Contains(stderr, "lost its head") {
			t.Errorf("%s: exit %d, stderr %q", name, code, stderr)
		}
	}
}

func TestWithSimulatorKeepsTheServiceInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.json")
	for name, shell := range shells(t) {
		var keys [2]string
		for n := range keys {
			_, stdout, _ := withSimulator(t, os.Args[0], shell, "--state", file, "--", "sh", "-c", addresses)
			keys[n] = stdout[strings.LastIndex(stdout, " ")+1:]
		}
		if keys[0] != keys[1] || len(keys[0]) < 44 {
			t.Errorf("%s: keys %q, want the same one twice", name, keys)
		}
	}
}
