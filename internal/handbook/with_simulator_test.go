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

// shells returns the shells of this machine that pipelines may have as sh.
func shells(t *testing.T) map[string][]string {
	needs(t)
	t.Helper()
	found := map[string][]string{}
	commands := map[string][]string{"sh": {"sh"}, "bash": {"bash"}, "dash": {"dash"}, "busybox": {"busybox", "sh"}}
	for name, command := range commands {
		if _, err := exec.LookPath(command[0]); err == nil {
			found[name] = command
		}
	}
	if len(found) == 0 {
		t.Skip("there is no shell here")
	}
	return found
}

// withSimulator runs with-simulator.sh with a program as the provider. The test binary can be the program.
func withSimulator(
	t *testing.T,
	program string,
	shell []string,
	arguments ...string,
) (code int, stdout, stderr string) {
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

// addresses prints the variables that the script sets.
const addresses = `echo "$GPURENT_BASE_URL $GPURENT_CONTROL_URL $GPURENT_API_KEY"; `

// expectStopped fails the test if the simulator in the first line of stdout still listens.
func expectStopped(t *testing.T, stdout string) {
	t.Helper()
	first, _, _ := strings.Cut(stdout, " ")
	address, err := url.Parse(first)
	if err != nil || address.Host == "" {
		t.Fatalf("no address in %q", stdout)
	}
	var dialer net.Dialer
	if conn, err := dialer.DialContext(t.Context(), "tcp", address.Host); err == nil {
		t.Errorf("the simulator still listens: %s, %v", address.Host, conn.Close())
	}
}

const listening, logHeader = "simulator is listening", "The simulator's log"

func TestWithSimulator_RunsAndStops(t *testing.T) {
	const list = `printf '[%s]' "$@"`
	const request = `curl -fsS -H "Authorization: Bearer $GPURENT_API_KEY" "$GPURENT_BASE_URL/me"`
	key := "test" + strings.Repeat("0", 40)
	for name, shell := range shells(t) {
		for what, test := range map[string]struct {
			flags   string   // shell words before the command
			command string   // run by sh -c after printing the addresses
			rest    []string // further arguments of the command
			code    int
			stdout  string // in it
			log     bool   // whether the script prints the simulator's log
		}{
			"a command that succeeds": {stdout: "/control "},
			"a command that fails":    {command: "exit 3", code: 3, stdout: "/control ", log: true},
			"simulator flags":         {flags: "--clock manual --api-key " + key + " --", stdout: key},
			"simulator and command":   {flags: "--seed 1 --", command: list, rest: []string{"a b", "--"}, stdout: "[a b][--]"},
			"command flags":           {command: list, rest: []string{"--", "-y"}, stdout: "[--][-y]"},
			"no flags before --":      {flags: "--", stdout: "/control "},
			"SIGTERM of the script":   {command: "kill -TERM $PPID", code: 143, stdout: "/control ", log: true},
			"an API request":          {command: request, stdout: "demo@rent.example"},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				needs(t, "curl")
				arguments := append(strings.Fields(test.flags), "sh", "-c", addresses+test.command, "sh")
				code, stdout, stderr := withSimulator(t, os.Args[0], shell, append(arguments, test.rest...)...)
				if code != test.code || !strings.Contains(stdout, test.stdout) {
					t.Errorf("exit %d, stdout %q, want %d and %q\n%s", code, stdout, test.code, test.stdout, stderr)
				}
				if shown := strings.Contains(stderr, logHeader) && strings.Contains(stderr, listening); shown != test.log {
					t.Errorf("stderr %q; want the log in it: %t", stderr, test.log)
				}
				expectStopped(t, stdout)
			})
		}
	}
}

func TestWithSimulator_ReportsWrongArguments(t *testing.T) {
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
				t.Errorf(
					"%s: %q: exit %d, stdout %q, stderr %q; want %d and %q",
					name, test.arguments, code, stdout, stderr, test.code, test.stderr,
				)
			}
		}
	}
}

// The script fails if the simulator crashes, even if the command succeeds.
func TestWithSimulator_ReportsACrash(t *testing.T) {
	program := filepath.Join(t.TempDir(), "crashes")
	const text = `#!/bin/sh
echo out of memory >&2
echo '{"base_url":"http://127.0.0.1:1/api/v1","control_url":"c","api_key":"k"}'
exit 5
`
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, shell := range shells(t) {
		code, _, stderr := withSimulator(t, program, shell, "true")
		if code != 1 || !strings.Contains(stderr, "exited unexpectedly") || !strings.Contains(stderr, "out of memory") {
			t.Errorf("%s: exit %d, stderr %q", name, code, stderr)
		}
	}
}

func TestWithSimulator_KeepsTheStateFile(t *testing.T) {
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
