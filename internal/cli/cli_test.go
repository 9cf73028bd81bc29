package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
)

// asBinary makes the test binary run the command line of the provider.
const envActAsBinary = "GPURENT_TEST_AS_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(envActAsBinary) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(runWithTempConfigDir(m))
}

// runWithTempConfigDir runs the tests with a temporary configuration folder. It fails if a test without a folder of
// testhome has written to it. It has no effect on macOS, where the folder depends on HOME, which the go command needs.
func runWithTempConfigDir(m *testing.M) (code int) {
	folder, err := os.MkdirTemp("", "gpurent-config-")
	if own, ownErr := os.UserConfigDir(); ownErr == nil && os.Getenv("GOENV") == "" {
		// Tests build the binary with the settings of the go command.
		err = errors.Join(err, os.Setenv("GOENV", filepath.Join(own, "go", "env")))
	}
	err = errors.Join(err, os.Setenv("XDG_CONFIG_HOME", folder), os.Setenv("AppData", folder))
	if err != nil {
		panic(err)
	}
	code = m.Run()
	if _, err := os.Stat(filepath.Join(folder, "gpurent")); err == nil {
		fmt.Fprintln(os.Stderr, "a test has written to the credentials file of the user: set the variables of testhome.Env")
		code = 1
	}
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

func TestCommands_UsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"simulate"},
		{"--verbose"},
		{"version", "now"},
		{"simulator", "--clock", "sun"},
		{"simulator", "--boot", "soon"},
		{"simulator", "--boot"},
		{"simulator", "--seed", "-1"},
		{"simulator", "--time-scale", "-2"},
		{"simulator", "--api-key", "short"},
		{"simulator", "extra"},
		{"login", "now"},
		{"login", "--no-browser=maybe"},
		{"logout", "--client-name", "x"},
		{"help", "simulate"},
		{"cost", "--format", "html"},
		{"cost", "--max-burn", "ten"},
		{"cost", "--max-added", "-5"},
		{"cost", "a.json", "b.json"},
	} {
		var stdout, stderr bytes.Buffer
		code := cli.Main(args, &stdout, &stderr)
		text := stderr.String()
		if code != 2 || stdout.Len() > 0 || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "Error: ") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want exit 2 and one line on stderr", args, code, &stdout, text)
		}
		if help := "See terraform-provider-gpurent " + args[0] + " --help."; args[0] == "simulator" &&
			!strings.Contains(text, help) {
			t.Errorf("%q: stderr %q does not refer to the help", args, text)
		}
	}
}

// Other users of the machine can read a command line, and the shell saves it. So no command accepts an API key of the
// real service, and errors do not repeat one.
func TestCommands_AcceptNoAPIKey(t *testing.T) {
	key := "gpr_" + strings.Repeat("CANARYcana", 4)
	const unknownFlag = "flag provided but not defined"
	for _, test := range []struct {
		want string
		args []string
	}{
		{unknownFlag, []string{"--api-key", key}}, {unknownFlag, []string{"login", "--api-key", key}},
		{unknownFlag, []string{"login", "--api-key=" + key}},
		{unknownFlag, []string{"login", "--key", key}}, {unknownFlag, []string{"logout", "--api-key", key}},
		{"base URL", []string{"login", "--base-url", "https://" + key + "@rent.example/api/v1"}},
		{"base URL", []string{"logout", "--base-url", "https://rent.example:" + key + "/api/v1"}},
		{"", []string{"simulator", "--api-key", key + "x"}},
	} {
		var stdout, stderr bytes.Buffer
		code := cli.Main(test.args, &stdout, &stderr)
		if problem := stderr.String(); code != 2 || !strings.Contains(problem, test.want) ||
			strings.Contains(stdout.String()+problem, "CANARY") {
			t.Errorf("%q: exit %d, %s%s, want %q", test.args, code, &stdout, problem, test.want)
		}
	}
}

func TestCommands_VersionAndHelp(t *testing.T) {
	for line, want := range map[string]string{
		"version":        "terraform-provider-gpurent ",
		"version --help": "Print the version",
		"--help":         "  simulator ",
		"help":           "  simulator ",
		"help login":     "--no-browser",
		"help simulator": "--time-scale float",
		"simulator -h":   "(default 127.0.0.1:0)",
	} {
		var stdout, stderr bytes.Buffer
		if code := cli.Main(strings.Fields(line), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), want) ||
			stderr.Len() > 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", line, code, &stdout, &stderr)
		}
	}
}

func TestSimulator_ListenError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := cli.Main([]string{"simulator", "--listen", "127.0.0.1:99999"}, &stdout, &stderr)
	if code != 1 || stdout.Len() > 0 {
		t.Errorf("exit %d, stdout %q, stderr %q; want exit 1", code, &stdout, &stderr)
	}
}

// needsSignals skips a test that sends a signal to a process on Windows.
func needsSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals")
	}
}

func TestSimulator_StopsOnSignal(t *testing.T) {
	needsSignals(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			command := exec.CommandContext(ctx, os.Args[0], "simulator", "--clock", "manual", "--seed", "7")
			command.Env = append(os.Environ(), envActAsBinary+"=1")
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			reader := bufio.NewReader(stdout)
			line, err := reader.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			checkReadyLine(t, line)
			if err := command.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			rest, readErr := io.ReadAll(reader)
			if err := errors.Join(readErr, command.Wait()); err != nil || len(rest) > 0 {
				t.Errorf("exit with %v, and %q on stdout after the first line", err, rest)
			}
		})
	}
}

// checkReadyLine checks the addresses and the key in the first line of the simulator.
func checkReadyLine(t *testing.T, line string) {
	t.Helper()
	ready := map[string]string{}
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	for address, want := range map[string]int{
		ready["base_url"] + "/me":           http.StatusOK,
		ready["base_url"] + "/openapi.json": http.StatusOK,
		ready["control_url"] + "/health":    http.StatusOK,
		ready["base_url"] + "/unknown":      http.StatusNotFound,
	} {
		if got := getStatus(t, address, ready["api_key"]); got != want {
			t.Errorf("GET %s: %d, want %d", address, got, want)
		}
	}
	if !strings.HasPrefix(ready["console_url"], "http://127.0.0.1:") {
		t.Errorf("console_url %q", ready["console_url"])
	}
}

func getStatus(t *testing.T, address, key string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", fmt.Sprintf("Bearer %s", key))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return resp.StatusCode
}
