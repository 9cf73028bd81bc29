package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// simulatorProcess is a process that runs the simulator command.
type simulatorProcess struct {
	t       *testing.T
	command *exec.Cmd
	BaseURL string `json:"base_url"`
	APIKey  string `json:"api_key"`
}

func startSimulator(t *testing.T, args ...string) *simulatorProcess {
	t.Helper()
	s := &simulatorProcess{t: t, command: exec.CommandContext(t.Context(), os.Args[0],
		append([]string{"simulator"}, args...)...)}
	s.command.Env = append(os.Environ(), envActAsBinary+"=1")
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, s); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return s
}

// kill kills the process and waits until it has ended.
func (s *simulatorProcess) kill() {
	s.t.Helper()
	if err := s.command.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if s.command.Wait() == nil {
		s.t.Fatal("the killed simulator exited with 0")
	}
}

// listOrItem is the response of a list request or of a create request.
type listOrItem struct {
	ID         string
	Data       []struct{ ID string }
	NextCursor *string `json:"next_cursor"`
}

// call sends a request. ok is false without a complete response.
func (s *simulatorProcess) call(client *http.Client, method, path, body string) (response listOrItem, ok bool) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return response, false
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return response, false
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return response, false
	}
	if err := json.Unmarshal(raw, &response); err != nil || resp.StatusCode > http.StatusCreated {
		s.t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, raw)
	}
	return response, true
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIu1JjoJZcOJv0BAkiBPLXJzCZs0T3cKXxzIqtNQG0Xr"

// A simulator that is killed while several clients create keys loses no key that it has returned.
func TestSimulator_KilledDuringWrites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	var known []string
	const rounds, clients = 8, 4
	for round := range rounds {
		s := startSimulator(t, "--state", file)
		listed := map[string]bool{}
		client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
		for next := ""; next != "end"; {
			page, ok := s.call(client, http.MethodGet, "/ssh-keys?limit=200"+next, "")
			if !ok {
				t.Fatal("no response to the list after a restart")
			}
			for _, item := range page.Data {
				listed[item.ID] = true
			}
			if next = "end"; page.NextCursor != nil {
				next = "&cursor=" + *page.NextCursor
			}
		}
		for _, id := range known {
			if !listed[id] {
				t.Errorf("round %d: %s is lost", round, id)
			}
		}
		known = append(known, s.createUntilKilled(client, clients, 1+9*round)...)
		client.CloseIdleConnections()
	}
}

// createUntilKilled creates keys with several clients and kills the simulator after a number of responses. It returns
// the ids of all responses.
func (s *simulatorProcess) createUntilKilled(client *http.Client, clients, responses int) []string {
	const perClient = 25 // the simulator limits the requests per minute
	ids := make(chan string, clients*perClient)
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for n := range perClient {
				body := fmt.Sprintf(`{"name": "n%d", "public_key": %q}`, n, publicKey)
				created, ok := s.call(client, http.MethodPost, "/ssh-keys", body)
				if !ok {
					return
				}
				ids <- created.ID
			}
		})
	}
	var created []string
	for range responses {
		created = append(created, <-ids)
	}
	s.kill()
	running.Wait()
	close(ids)
	for id := range ids {
		created = append(created, id)
	}
	return created
}

func TestSimulator_StateOfOtherVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(file, []byte(`{"Format": "gpurent-simulator", "Version": 7000}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wantStartError(t, file, "version 7000")
}

func TestSimulator_StateFileInUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	first := startSimulator(t, "--state", file)
	wantStartError(t, file, "another simulator uses it")
	if runtime.GOOS == "windows" {
		first.kill() // there are no signals
	} else {
		if err := first.command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := first.command.Wait(); err != nil {
			t.Error(err)
		}
	}
	startSimulator(t, "--state", file).kill()
}

func wantStartError(t *testing.T, file, want string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "simulator", "--state", file)
	command.Env = append(os.Environ(), envActAsBinary+"=1")
	output, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() != 1 || !strings.Contains(string(output), want) ||
		strings.Count(string(output), "\n") != 1 {
		t.Errorf("%v, output %q; want exit 1 and one line", err, output)
	}
}
