package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
)

const balance = `
data "gpurent_balance" "now" {
}

output "balance" {
  value = data.gpurent_balance.now.balance_kop
}
`

// fastPolling makes logins poll every second. It advances the clock by ten seconds with each request, so the simulator
// returns no slow_down.
func fastPolling(c *simulator.Config) {
	c.Step = 10 * time.Second
	acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(shortInterval{w}, r) })
	})(c)
}

// shortInterval is a response writer that replaces the poll interval by one second.
type shortInterval struct{ http.ResponseWriter }

func (w shortInterval) Write(body []byte) (int, error) {
	return w.ResponseWriter.Write(bytes.Replace(body, []byte(`"interval":5`), []byte(`"interval":1`), 1))
}

// terminal runs commands of the binary with a separate home.
type terminal struct {
	t      *testing.T
	binary string
	home   string
	env    []string
	output bytes.Buffer // stdout and stderr of all commands
}

func newTerminal(t *testing.T, binary string, env ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, binary: binary, home: t.TempDir()}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GPURENT_") {
			term.env = append(term.env, pair)
		}
	}
	term.env = append(append(term.env, term.config()...), env...)
	return term
}

// config returns the environment variables of the home.
func (term *terminal) config() []string { return testhome.Env(term.home) }

// file returns the path of the credentials file.
func (term *terminal) file() string {
	return filepath.Join(testhome.ConfigDir(term.home), "gpurent", "credentials.json")
}

// runningCommand is a started command of a terminal.
type runningCommand struct {
	*exec.Cmd
	term   *terminal
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func (term *terminal) start(arguments ...string) *runningCommand {
	term.t.Helper()
	c := &runningCommand{Cmd: exec.CommandContext(term.t.Context(), term.binary, arguments...), term: term}
	c.Env, c.Stderr = term.env, &c.stderr
	pipe, err := c.StdoutPipe()
	if err != nil {
		term.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		term.t.Fatal(err)
	}
	c.stdout = bufio.NewReader(pipe)
	return c
}

// promptLine matches the line with the address and the code.
var promptLine = regexp.MustCompile(`^Open (\S+) in a browser and approve the code (\S+) within 10 minutes\.\n$`)

// readPrompt reads the address and the code.
func (c *runningCommand) readPrompt() (address, code string) {
	c.term.t.Helper()
	line, err := c.stdout.ReadString('\n')
	found := promptLine.FindStringSubmatch(line)
	if found == nil {
		c.term.t.Fatalf("the first line is %q, %v; stderr %q", line, err, &c.stderr)
	}
	c.term.output.WriteString(line)
	return found[1], found[2]
}

// wait waits for the end of the command. It returns the output since readPrompt, and the exit code.
func (c *runningCommand) wait() (stdout, stderr string, code int) {
	c.term.t.Helper()
	rest, err := io.ReadAll(c.stdout)
	waitErr := c.Wait()
	if exit := (*exec.ExitError)(nil); err != nil || waitErr != nil && !errors.As(waitErr, &exit) {
		c.term.t.Fatal(err, waitErr)
	}
	c.term.output.Write(rest)
	c.term.output.Write(c.stderr.Bytes())
	return string(rest), c.stderr.String(), c.ProcessState.ExitCode()
}

// key returns the key in the credentials file.
func (term *terminal) key() string {
	term.t.Helper()
	content, err := os.ReadFile(term.file())
	if err != nil {
		term.t.Fatal(err)
	}
	var file struct {
		Credentials map[string]struct {
			Key string `json:"api_key"`
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		term.t.Fatal(err)
	}
	for _, entry := range file.Credentials {
		return entry.Key
	}
	term.t.Fatal("no key in the credentials file")
	return ""
}

// wroteNothing returns an error if the folder of the credentials file contains anything but the lock file.
func (term *terminal) wroteNothing() error {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(term.file()), "*"))
	if err == nil && (len(files) != 1 || files[0] != term.file()+".lock") {
		err = fmt.Errorf("unexpected files: %s", files)
	}
	return err
}

// A user logs in, plans and logs out, without variables in the environment and without an address or key in the
// configuration.
func TestAccLogin_approvedInTheBrowser(t *testing.T) {
	// The plan reads the balance.
	env := acctest.Start(t, fastPolling, acctest.WithoutQuirks("forbidden-balance"))
	user := newTerminal(t, acctest.Binary(t))
	workspace := env.Workspace(balance, append(append(user.config(), acctest.Traced()...), "GPURENT_BASE_URL=",
		"GPURENT_API_KEY=")...)
	browser := openPage(t)

	login := user.start("login", "--base-url", env.BaseURL, "--client-name", "my laptop", "--no-browser")
	address, code := login.readPrompt()
	browser.decide(address, code, "my laptop", "approve")
	browser.waitFor("Approved")
	stdout, stderr, exit := login.wait()
	loggedIn := regexp.MustCompile(`^Logged in to ` + regexp.QuoteMeta(env.BaseURL) + ` as \S+\. The key is in ` +
		regexp.QuoteMeta(user.file()) + `\.\n$`)
	if exit != 0 || !loggedIn.MatchString(stdout) || stderr != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", exit, stdout, stderr)
	}
	info, err := os.Stat(user.file())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("the mode of the file is %v", info.Mode())
	}
	key := user.key()
	printed := workspace.Run("plan", "-no-color")
	if !strings.Contains(printed, "balance = ") {
		t.Errorf("the plan after the login:\n%s", printed)
	}

	stdout, stderr, exit = user.start("logout").wait()
	if exit != 0 || stdout != "Logged out of "+env.BaseURL+". The key was revoked.\n" || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, stdout, stderr)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
	const advice = "terraform-provider-gpurent login"
	baseURL, apiKey := "GPURENT_BASE_URL="+env.BaseURL, "GPURENT_API_KEY="+key
	printed += failingPlan(t, workspace, nil, "Missing address of the service", advice)
	printed += failingPlan(t, workspace, []string{baseURL}, "Missing API key", advice)
	printed += failingPlan(t, workspace, []string{baseURL, apiKey}, "unauthorized", advice)

	if err := acctest.Leak(key, map[string]string{"output": user.output.String(), "plan": printed,
		"log": workspace.Trace()}); err != nil {
		t.Error(err)
	}
	if strings.ContainsAny(user.output.String(), "\x1b\r\x07") {
		t.Errorf("control characters without a terminal: %q", &user.output)
	}
}

// failingPlan plans with additional environment variables. The plan must fail with an error that contains all words.
func failingPlan(t *testing.T, w *acctest.Workspace, env []string, words ...string) (output string) {
	t.Helper()
	var printed bytes.Buffer
	plan := w.Command(t.Context(), &printed, "plan", "-no-color")
	plan.Env = append(plan.Env, env...)
	err := plan.Run()
	for _, word := range words {
		if output := acctest.WithoutFrame(printed.String()); err == nil ||
			!strings.Contains(output, word) {
			t.Errorf("%v; the plan does not print %q:\n%s", err, word, output)
		}
	}
	return printed.String()
}

func TestAccLogin_deniedInTheBrowser(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, fastPolling)
	user := newTerminal(t, acctest.Binary(t), "GPURENT_BASE_URL="+env.BaseURL)
	browser := openPage(t)
	login := user.start("login", "--no-browser")
	address, code := login.readPrompt()
	browser.decide(address, code, "terraform-provider-gpurent", "deny")
	browser.waitFor("Denied")
	stdout, stderr, exit := login.wait()
	if exit != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 ||
		!strings.HasPrefix(stderr, "Error: the login was denied") {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, stdout, stderr)
	}
	if err := errors.Join(user.wroteNothing(), env.OnlyKeyLeft()); err != nil {
		t.Error(err)
	}
}

// A second login replaces the first and revokes its key. A key in the environment causes a warning.
func TestLogin_ReplacesPreviousKey(t *testing.T) {
	env := acctest.Start(t, fastPolling)
	user := newTerminal(t, os.Args[0], envActAsBinary+"=1", "GPURENT_API_KEY="+env.APIKey)
	var keys []string
	for range 2 {
		login := user.start("login", "--base-url", env.BaseURL, "--no-browser")
		_, code := login.readPrompt()
		if err := env.DecideDeviceCode(code, true); err != nil {
			t.Fatal(err)
		}
		if stdout, stderr, exit := login.wait(); exit != 0 || !strings.Contains(stderr, "Warning: GPURENT_API_KEY is set") ||
			strings.Count(stderr, "\n") != 1 {
			t.Fatalf("exit %d, stdout %q, stderr %q", exit, stdout, stderr)
		}
		keys = append(keys, user.key())
	}
	if err := env.Left("api-keys", 2); err != nil || keys[0] == keys[1] {
		t.Errorf("want the key of the account and the key of the last login: %v", err)
	}
	for _, key := range append(keys, env.APIKey) {
		if err := acctest.Leak(key, map[string]string{"output": user.output.String()}); err != nil {
			t.Error(err)
		}
	}
}

func TestLogin_CancelledBySignal(t *testing.T) {
	needsSignals(t)
	env := acctest.Start(t, fastPolling)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		user := newTerminal(t, os.Args[0], envActAsBinary+"=1")
		login := user.start("login", "--base-url", env.BaseURL, "--no-browser")
		login.readPrompt()
		if err := login.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if stdout, stderr, exit := login.wait(); exit != 1 || stdout != "" || stderr != "Error: login was cancelled\n" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", sig, exit, stdout, stderr)
		}
		if err := errors.Join(user.wroteNothing(), env.OnlyKeyLeft()); err != nil {
			t.Error(err)
		}
	}
}
