package cli_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// simulatorProcess is a process that runs the simulator command.
type simulatorProcess struct {
	*process
	BaseURL    string `json:"base_url"`
	ControlURL string `json:"control_url"`
	ConsoleURL string `json:"console_url"`
	APIKey     string `json:"api_key"`
}

func startSimulator(t *testing.T, arguments ...string) (s *simulatorProcess, client *rental.Client) {
	t.Helper()
	s = &simulatorProcess{process: newUser(t).start(append([]string{"simulator"}, arguments...)...)}
	if line := s.line(); json.Unmarshal([]byte(line), s) != nil {
		t.Fatalf("the first line is %q", line)
	}
	client, err := rental.New(rental.Config{BaseURL: s.BaseURL, APIKey: s.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return s, client
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

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIu1JjoJZcOJv0BAkiBPLXJzCZs0T3cKXxzIqtNQG0Xr"

// The simulator prints its addresses. With --state, one that is killed has saved all that it returned, and only one
// simulator uses the file. TestCommands_VersionAndHelp checks the address that it listens on by default.
func TestSimulator_State(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	first, client := startSimulator(t, "--state", file, "--clock", "manual", "--seed", "7")
	for _, address := range []string{first.BaseURL + "/openapi.json", first.ControlURL + "/health", first.ConsoleURL} {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK || !strings.HasPrefix(address, "http://127.0.0.1:") {
			t.Errorf("%s: %s", address, resp.Status)
		}
	}
	wantStartError(t, "another simulator uses it", "--state", file)
	key, err := client.CreateSSHKey(t.Context(), rental.SSHKeyCreate{PublicKey: publicKey})
	if err != nil {
		t.Fatal(err)
	}
	first.kill()
	second, client := startSimulator(t, "--state", file)
	defer second.kill()
	if err := client.DeleteSSHKey(t.Context(), key.ID); err != nil || second.APIKey != first.APIKey {
		t.Errorf("%s or the API key is lost: %v", key.ID, err)
	}
}

func TestSimulator_StartErrors(t *testing.T) {
	newer := writeFile(t, `{"Format": "gpurent-simulator", "Version": 7000}`)
	wantStartError(t, "version 7000", "--state", newer)
	wantStartError(t, "", "--listen", "127.0.0.1:99999")
}

func wantStartError(t *testing.T, want string, arguments ...string) {
	t.Helper()
	stdout, stderr, code := run(append([]string{"simulator"}, arguments...)...)
	if code != 1 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q, %q; want exit 1 and one line", code, stdout, stderr)
	}
}
