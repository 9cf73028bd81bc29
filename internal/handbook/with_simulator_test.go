package handbook_test

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// withSimulator is the script that users copy, below examples/.
const withSimulator = "try-without-spending/with-simulator.sh"

// simulate runs with-simulator.sh with a program as the provider. The test binary can be the program.
func simulate(t *testing.T, program string, arguments ...string) (output string, status int) {
	t.Helper()
	needs(t, "sh")
	command := exec.CommandContext(t.Context(), "sh", append([]string{inProject("examples", withSimulator)}, arguments...)...)
	command.Env = append(environ(t.TempDir()), "GPURENT_PROVIDER="+program, asProvider, "TMPDIR="+t.TempDir())
	printed, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	for _, variable := range command.Env { // a simulator that stops removes its files
		if folder, ok := strings.CutPrefix(variable, "TMPDIR="); ok && command.ProcessState.Success() {
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("%q leaves %v, %v", arguments, left, err)
			}
		}
	}
	return string(printed), command.ProcessState.ExitCode()
}

// addresses prints the variables that the script sets.
const addresses = `echo "$GPURENT_BASE_URL $GPURENT_CONTROL_URL $GPURENT_API_KEY"; `

// expectStopped fails the test if the simulator in the first line of the output still listens after some time.
func expectStopped(t *testing.T, output string, patience time.Duration) {
	t.Helper()
	first, _, _ := strings.Cut(output, " ")
	address, err := url.Parse(first)
	if err != nil || address.Host == "" {
		t.Fatalf("no address in %q", output)
	}
	var dialer net.Dialer
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		conn, err := dialer.DialContext(t.Context(), "tcp", address.Host)
		if err != nil {
			return
		}
		if err := conn.Close(); err != nil || time.Now().After(deadline) {
			t.Fatalf("the simulator still listens: %s, %v", address.Host, err)
		}
	}
}

// The script runs a command with a simulator, and stops the simulator. It prints the log if the command fails. If the
// script is killed, nothing of it remains either.
func TestWithSimulator_RunsAndStops(t *testing.T) {
	const list = `printf '[%s]' "$@"`
	for what, test := range map[string]struct {
		flags   string   // shell words before the command
		command string   // run by sh -c after printing the addresses
		rest    []string // further arguments of the command
		status  int
		output  string // in it
	}{
		"a command that fails":  {command: "exit 3", status: 3, output: "which ran until then"},
		"simulator flags":       {flags: "--clock manual --api-key " + rentaltest.Key + " --", output: rentaltest.Key},
		"simulator and command": {flags: "--seed 1 --", command: list, rest: []string{"a b", "--"}, output: "[a b][--]"},
		"command flags":         {command: list, rest: []string{"--", "-y"}, output: "[--][-y]"},
		"no flags before --":    {flags: "--", output: "/control "},
		"SIGTERM of the script": {command: "kill -TERM $PPID", status: 143, output: "/control "},
		"SIGKILL of the script": {command: "kill -KILL $PPID", status: -1, output: "/control "},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			arguments := append(strings.Fields(test.flags), "sh", "-c", addresses+test.command, "sh")
			output, status := simulate(t, os.Args[0], append(arguments, test.rest...)...)
			if status != test.status || !strings.Contains(output, test.output) {
				t.Errorf("exit %d, want %d and %q in:\n%s", status, test.status, test.output, output)
			}
			if logged := strings.Contains(output, "simulator is listening"); logged != (test.status > 0) {
				t.Errorf("the log of the simulator was printed: %t\n%s", logged, output)
			}
			patience := time.Duration(0)
			if test.status < 0 {
				patience = 30 * time.Second
			}
			expectStopped(t, output, patience)
		})
	}
}

// The script fails with the reason if it cannot start the simulator, or if the simulator crashes, even if the command
// succeeds.
func TestWithSimulator_Fails(t *testing.T) {
	crashing := write(t, `#!/bin/sh
echo out of memory >&2
echo '{"base_url":"http://127.0.0.1:1/api/v1","control_url":"c","api_key":"k"}'
exit 5
`, t.TempDir(), "crashes")
	for _, test := range []struct {
		program   string
		arguments []string
		status    int
		want      string
	}{
		{os.Args[0], nil, 2, "usage:"},
		{os.Args[0], []string{"--seed", "1"}, 2, "usage:"},
		{os.Args[0], []string{"--seed", "1", "--"}, 2, "usage:"},
		{os.Args[0], []string{"--clock", "sun", "--", "true"}, 1, `must be "real" or "manual"`},
		{crashing, []string{"true"}, 1, "out of memory"},
	} {
		output, status := simulate(t, test.program, test.arguments...)
		if status != test.status || !strings.Contains(output, test.want) || strings.Contains(output, "which ran until then") {
			t.Errorf("%q: exit %d, want %d and %q in:\n%s", test.arguments, status, test.status, test.want, output)
		}
	}
}
