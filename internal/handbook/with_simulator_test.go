package handbook_test

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// withSimulator is the script that users copy, below examples/.
const withSimulator = "try-without-spending/with-simulator.sh"

// crashing is a provider whose simulator crashes after its start.
const crashing = `#!/bin/sh
echo out of memory >&2
echo '{"base_url":"http://127.0.0.1:1/api/v1","control_url":"c","api_key":"k"}'
exit 5
`

// The script runs a command with a simulator and stops the simulator, even if it is killed. It prints the log if the
// command fails, and the reason if the simulator did not start or crashes, even if the command succeeds.
func TestWithSimulator(t *testing.T) {
	needs(t, "sh")
	// command returns arguments for the script that print the variables that it sets, and run a command.
	command := func(flags, command string, rest ...string) []string {
		command = `echo "$GPURENT_BASE_URL $GPURENT_CONTROL_URL $GPURENT_API_KEY"; ` + command
		return slices.Concat(strings.Fields(flags), []string{"sh", "-c", command, "sh"}, rest)
	}
	const list = `printf '[%s]' "$@"`
	program := write(t, crashing, t.TempDir(), "crashing")
	for what, test := range map[string]struct {
		arguments []string
		status    int
		output    string // in it
	}{
		"a command that fails":  {command("", "exit 3"), 3, "which ran until then"},
		"its log":               {command("", "exit 3"), 3, "simulator is listening"},
		"simulator flags":       {command("--clock manual --api-key "+rentaltest.Key+" --", ""), 0, rentaltest.Key},
		"simulator and command": {command("--seed 1 --", list, "a b", "--"), 0, "[a b][--]"},
		"command flags":         {command("", list, "--", "-y"), 0, "[--][-y]"},
		"no flags before --":    {command("--", ""), 0, "/control "},
		"SIGTERM of the script": {command("", "kill -TERM $PPID"), 143, "/control "},
		"SIGKILL of the script": {command("", "kill -KILL $PPID"), -1, "/control "},
		"a closed terminal":     {command("", "yes"), 0, "/control "},
		"no arguments":          {nil, 2, "usage:"},
		"no command":            {[]string{"--seed", "1"}, 2, "usage:"},
		"nothing after --":      {[]string{"--seed", "1", "--"}, 2, "usage:"},
		"a wrong flag":          {[]string{"--clock", "sun", "--", "true"}, 1, `must be "real" or "manual"`},
		"a crash":               {[]string{"true"}, 1, "out of memory"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			arguments := append([]string{inProject("examples", withSimulator)}, test.arguments...)
			temporary, provider := t.TempDir(), os.Args[0] // the test binary behaves as the provider
			switch what {
			case "a crash":
				provider = program
			case "a closed terminal":
				arguments = append([]string{"-c", `sh "$0" "$@" 2>&1 | head -n 1`}, arguments...)
			}
			script := exec.CommandContext(t.Context(), "sh", arguments...)
			script.Env = append(environ(t.TempDir()), asProvider, "GPURENT_PROVIDER="+provider, "TMPDIR="+temporary)
			printed, err := script.CombinedOutput()
			output := string(printed)
			if script.ProcessState == nil {
				t.Fatal(err)
			}
			if status := script.ProcessState.ExitCode(); status != test.status || !strings.Contains(output, test.output) {
				t.Errorf("exit %d, want %d and %q in:\n%s", status, test.status, test.output, output)
			}
			if strings.HasPrefix(output, "http://") {
				expectStopped(t, output)
			} else if strings.Contains(output, "which ran until then") {
				t.Errorf("the simulator did not run:\n%s", output)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v, %v", left, err)
			}
		})
	}
}

// expectStopped expects that the simulator in the first line of the output listens no more. It stops some time after a
// script that was killed.
func expectStopped(t *testing.T, output string) {
	t.Helper()
	first, _, _ := strings.Cut(output, " ")
	address, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		conn, err := dialer.DialContext(t.Context(), "tcp", address.Host)
		if err != nil {
			return
		}
		if err := conn.Close(); err != nil || time.Now().After(deadline) {
			t.Fatalf("the simulator still listens: %s, %v", address.Host, err)
		}
	}
}
