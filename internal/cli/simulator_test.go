package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// simulatorProcess is a process that runs the simulator command.
type simulatorProcess struct {
	*process
	BaseURL    string `json:"base_url"`
	ControlURL string `json:"control_url"`
	ConsoleURL string `json:"console_url"`
	APIKey     string `json:"api_key"`
}

func startSimulator(t *testing.T, arguments ...string) *simulatorProcess {
	t.Helper()
	s := &simulatorProcess{process: newUser(t).start(append([]string{"simulator"}, arguments...)...)}
	if line := s.line(); json.Unmarshal([]byte(line), s) != nil {
		t.Fatalf("the first line is %q", line)
	}
	return s
}

// kill ends the process without a chance to save anything.
func (s *simulatorProcess) kill() {
	s.user.t.Helper()
	if err := s.Process.Kill(); err != nil {
		s.user.t.Fatal(err)
	}
	if _, _, code := s.wait(); code == 0 {
		s.user.t.Fatal("the killed simulator exited with 0")
	}
}

// send sends a request with the API key. It returns the body of the response.
func (s *simulatorProcess) send(method, address, body string, status int) string {
	t := s.user.t
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Errorf("%s %s: %d, want %d: %s %v", method, address, resp.StatusCode, status, raw, err)
	}
	return string(raw)
}

// TestCommands_VersionAndHelp checks the address that the simulator listens on by default.
func TestSimulator_PrintsAddresses(t *testing.T) {
	s := startSimulator(t, "--clock", "manual", "--seed", "7")
	defer s.kill()
	s.send(http.MethodGet, s.BaseURL+"/me", "", http.StatusOK)
	s.send(http.MethodGet, s.BaseURL+"/openapi.json", "", http.StatusOK)
	s.send(http.MethodGet, s.BaseURL+"/unknown", "", http.StatusNotFound)
	s.send(http.MethodGet, s.ControlURL+"/health", "", http.StatusOK)
	for _, address := range []string{s.BaseURL, s.ControlURL, s.ConsoleURL} {
		if !strings.HasPrefix(address, "http://127.0.0.1:") {
			t.Errorf("the simulator prints %s", address)
		}
	}
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIu1JjoJZcOJv0BAkiBPLXJzCZs0T3cKXxzIqtNQG0Xr"

// With --state, a simulator that is killed has saved all that it returned. Only one simulator uses the file.
func TestSimulator_State(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	first := startSimulator(t, "--state", file)
	wantStartError(t, file, "another simulator uses it")
	created := first.send(http.MethodPost, first.BaseURL+"/ssh-keys", `{"public_key": "`+publicKey+`"}`,
		http.StatusCreated)
	var key struct{ ID string }
	if err := json.Unmarshal([]byte(created), &key); err != nil {
		t.Fatal(err)
	}
	first.kill()
	second := startSimulator(t, "--state", file)
	defer second.kill()
	keys := second.send(http.MethodGet, second.BaseURL+"/ssh-keys", "", http.StatusOK)
	if !strings.Contains(keys, `"`+key.ID+`"`) || second.APIKey != first.APIKey {
		t.Errorf("%s or the API key is lost: %s", key.ID, keys)
	}
}

func TestSimulator_StartErrors(t *testing.T) {
	wantStartError(t, writeFile(t, `{"Format": "gpurent-simulator", "Version": 7000}`), "version 7000")
	if stdout, stderr, code := run("simulator", "--listen", "127.0.0.1:99999"); code != 1 || stdout != "" {
		t.Errorf("exit %d, stdout %q, stderr %q; want exit 1", code, stdout, stderr)
	}
}

func wantStartError(t *testing.T, file, want string) {
	t.Helper()
	s := newUser(t).start("simulator", "--state", file)
	if line, err := s.stdout.ReadString('\n'); err == nil {
		t.Errorf("the simulator starts: %s", line)
		_ = s.Process.Kill() //nolint:errcheck // the test has failed
	}
	if _, stderr, code := s.wait(); code != 1 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q; want exit 1 and one line", code, stderr)
	}
}
