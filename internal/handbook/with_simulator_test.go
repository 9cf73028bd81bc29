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

// simulate runs with-simulator.sh with a program as the provider. The test binary can be the program.
func simulate(t *testing.T, program string, shell []string, arguments ...string) (output string, status int) {
	t.Helper()
	line := append(append(shell[1:len(shell):len(shell)], example(tryExample, withSimulator)), arguments...)
	command := exec.CommandContext(t.Context(), shell[0], line...)
	command.Env = append(os.Environ(), "GPURENT_PROVIDER="+program, asBinary+"=1")
	printed, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
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

// The script runs a command with a simulator, and stops the simulator. It prints the log if the command fails.
func TestWithSimulator_RunsAndStops(t *testing.T) {
	const list = `printf '[%s]' "$@"`
	for name, shell := range shells(t) {
		for what, test := range map[string]struct {
			flags   string   // shell words before the command
			command string   // run by sh -c after printing the addresses
			rest    []string // further arguments of the command
			status  int
			output  string // in it
		}{
			"a command that succeeds": {output: "/control "},
			"a command that fails":    {command: "exit 3", status: 3, output: "/control "},
			"simulator flags":         {flags: "--clock manual --api-key " + rentaltest.Key + " --", output: rentaltest.Key},
			"simulator and command":   {flags: "--seed 1 --", command: list, rest: []string{"a b", "--"}, output: "[a b][--]"},
			"command flags":           {command: list, rest: []string{"--", "-y"}, output: "[--][-y]"},
			"no flags before --":      {flags: "--", output: "/control "},
			"SIGTERM of the script":   {command: "kill -TERM $PPID", status: 143, output: "/control "},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				arguments := append(strings.Fields(test.flags), "sh", "-c", addresses+test.command, "sh")
				output, status := simulate(t, os.Args[0], shell, append(arguments, test.rest...)...)
				if status != test.status || !strings.Contains(output, test.output) {
					t.Errorf("exit %d, want %d and %q in:\n%s", status, test.status, test.output, output)
				}
				if logged := strings.Contains(output, "simulator is listening"); logged != (test.status != 0) {
					t.Errorf("the log of the simulator was printed: %t\n%s", logged, output)
				}
				if blamed := !strings.Contains(output, "which ran until then"); blamed != (test.status == 0) {
					t.Errorf("the output blames the simulator: %t\n%s", blamed, output)
				}
				expectStopped(t, output, 0)
			})
		}
	}
}

// If the script is killed, or nothing reads its output any more, as after a closed terminal, nothing of it remains.
func TestWithSimulator_LeavesNothing(t *testing.T) {
	for name, shell := range shells(t) {
		closed := append([]string{"sh", "-c", `"$0" "$@" 2>&1 | head -n 1`}, shell...)
		for command, shell := range map[string][]string{"kill -KILL $PPID": shell, "yes": closed} {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			output, _ := simulate(t, os.Args[0], shell, "sh", "-c", addresses+command)
			expectStopped(t, output, 30*time.Second)
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("%s: %q leaves %v, %v", name, command, left, err)
			}
		}
	}
}

// The script fails with the reason if it cannot start the simulator, or if the simulator crashes, even if the command
// succeeds.
func TestWithSimulator_Fails(t *testing.T) {
	const crash = `#!/bin/sh
echo out of memory >&2
echo '{"base_url":"http://127.0.0.1:1/api/v1","control_url":"c","api_key":"k"}'
exit 5
`
	crashing := write(t, crash, t.TempDir(), "crashes")
	for name, shell := range shells(t) {
		for _, test := range []struct {
			program   string
			arguments []string
			status    int
			want      []string
		}{
			{os.Args[0], nil, 2, []string{"usage:"}},
			{os.Args[0], []string{"--seed", "1"}, 2, []string{"usage:"}},
			{os.Args[0], []string{"--seed", "1", "--"}, 2, []string{"usage:"}},
			{os.Args[0], []string{"--clock", "sun", "--", "true"}, 1, []string{"did not start", `must be "real" or "manual"`}},
			{crashing, []string{"true"}, 1, []string{"exited unexpectedly", "out of memory"}},
		} {
			output, status := simulate(t, test.program, shell, test.arguments...)
			if status != test.status {
				t.Errorf("%s: %q: exit %d, want %d", name, test.arguments, status, test.status)
			}
			expectWords(t, output, test.want...)
			if strings.Contains(output, "which ran until then") {
				t.Errorf("%s: %q: the simulator did not run:\n%s", name, test.arguments, output)
			}
		}
	}
}
