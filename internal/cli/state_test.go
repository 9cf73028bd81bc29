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

// simulatorProcess is the binary as a simulator.
type simulatorProcess struct {
	t       *testing.T
	command *exec.Cmd
	BaseURL string `json:"base_url"`
	APIKey  string `json:"api_key"`
}

func startSimulator(t *testing.T, args ...string) *simulatorProcess {
	t.Helper()
	s := &simulatorProcess{t: t, command: exec.CommandContext(t.Context(), os.Args[0], append([]string{"simulator"}, args...)...)}
	s.command.Env = append(os.Environ(), asBinary+"=1")
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

// kill -9, and wait until the process is gone.
func (s *simulatorProcess) kill() {
	s.t.Helper()
	if err := s.command.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if s.command.Wait() == nil {
		s.t.Fatal("the killed simulator ended well")
	}
}

// listed is a list of things, or one thing.
type listed struct {
	ID         string
	Data       []struct{ ID string }
	NextCursor *string `json:"next_cursor"`
}

// call returns what is answered; false when there was no answer.
func (s *simulatorProcess) call(client *http.Client, method, path, body string) (answer listed, answered bool) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return answer, false
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return answer, false
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer, false
	}
	if err := json.Unmarshal(raw, &answer); err != nil || resp.StatusCode > http.StatusCreated {
		s.t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, raw)
	}
	return answer, true
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIu1JjoJZcOJv0BAkiBPLXJzCZs0T3cKXxzIqtNQG0Xr"

// TestSimulatorKilledWhileItWritesLosesNothing kills it at many moments, with several clients at work.
func TestSimulatorKilledWhileItWritesLosesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	var known []string
	const rounds, clients = 8, 4 // 100 creations at most in one life stay inside the request limit
	for round := range rounds {
		s := startSimulator(t, "--state", file)
		there := map[string]bool{}
		client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
		for next := ""; next != "end"; {
			page, ok := s.call(client, http.MethodGet, "/ssh-keys?limit=200"+next, "")
			if !ok {
				t.Fatal("no list after a restart")
			}
			for _, item := range page.Data {
				there[item.ID] = true
			}
			if next = "end"; page.NextCursor != nil {
				next = "&cursor=" + *page.NextCursor
			}
		}
		for _, id := range known {
			if !there[id] {
				t.Errorf("round %d: %s was answered and is lost", round, id)
			}
		}
		known = append(known, s.createUntilKilled(client, clients, time.Duration(2+4*round)*time.Millisecond)...)
		client.CloseIdleConnections()
	}
	if len(known) == 0 || len(known) == rounds*100 {
		t.Fatalf("%d keys were made: no kill was in the middle of anything", len(known))
	}
	t.Logf("%d creations were answered in %d lives", len(known), rounds)
}

// createUntilKilled returns the ids that were answered before the end.
func (s *simulatorProcess) createUntilKilled(client *http.Client, clients int, after time.Duration) []string {
	var mu sync.Mutex
	var made []string
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for n := range 25 {
				created, answered := s.call(client, http.MethodPost, "/ssh-keys", fmt.Sprintf(`{"name": "n%d", "public_key": %q}`, n, publicKey))
				if !answered {
					return
				}
				mu.Lock()
				made = append(made, created.ID)
				mu.Unlock()
			}
		})
	}
	time.Sleep(after) // the moment of the kill is the point of the test, whatever happens to be going on
	s.kill()
	all.Wait()
	return made
}

func TestSimulatorRefusesAStateOfAnotherVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(file, []byte(`{"Format": "gpurent-simulator", "Version": 7000}`), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, file, "version 7000")
}

func TestSimulatorsDoNotShareAState(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	first := startSimulator(t, "--state", file)
	refuses(t, file, "another simulator uses it")
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

func refuses(t *testing.T, file, saying string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "simulator", "--state", file)
	command.Env = append(os.Environ(), asBinary+"=1")
	output, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() != 1 || !strings.Contains(string(output), saying) || strings.Count(string(output), "\n") != 1 {
		t.Errorf("%v, output %q; want exit 1 and one line", err, output)
	}
}
