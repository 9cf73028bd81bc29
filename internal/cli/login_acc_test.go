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

// quick lets logins poll every second, which is not too often here: the clock moves ten
// seconds with each request.
func quick(c *simulator.Config) {
	c.Step = 10 * time.Second
	acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(everySecond{w}, r) })
	})(c)
}

type everySecond struct{ http.ResponseWriter }

func (w everySecond) Write(body []byte) (int, error) {
	return w.ResponseWriter.Write(bytes.Replace(body, []byte(`"interval":5`), []byte(`"interval":1`), 1))
}

// terminal is where somebody types commands of the binary, with a home of their own.
type terminal struct {
	t      *testing.T
	binary string
	home   string
	env    []string
	said   bytes.Buffer // all that was printed, on either stream
}

func newTerminal(t *testing.T, binary string, env ...string) *terminal {
	t.Helper()
	at := &terminal{t: t, binary: binary, home: t.TempDir()}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GPURENT_") {
			at.env = append(at.env, pair)
		}
	}
	at.env = append(append(at.env, at.config()...), env...)
	return at
}

// config is the environment that makes this home the user's own.
func (at *terminal) config() []string {
	return testhome.Env(at.home)
}

func (at *terminal) file() string {
	return filepath.Join(testhome.ConfigDir(at.home), "gpurent", "credentials.json")
}

// typed is a command on its way.
type typed struct {
	*exec.Cmd
	at       *terminal
	stdout   *bufio.Reader
	problems bytes.Buffer
}

func (at *terminal) start(arguments ...string) *typed {
	at.t.Helper()
	c := &typed{Cmd: exec.CommandContext(at.t.Context(), at.binary, arguments...), at: at}
	c.Env, c.Stderr = at.env, &c.problems
	pipe, err := c.StdoutPipe()
	if err != nil {
		at.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		at.t.Fatal(err)
	}
	c.stdout = bufio.NewReader(pipe)
	return c
}

// asks is the one line that asks for an approval.
var asks = regexp.MustCompile(`^Open (\S+) in a browser and approve the code (\S+) within 10 minutes\.\n$`)

// question reads where to go, and with which code.
func (c *typed) question() (address, code string) {
	c.at.t.Helper()
	line, err := c.stdout.ReadString('\n')
	found := asks.FindStringSubmatch(line)
	if found == nil {
		c.at.t.Fatalf("the first line is %q, %v; stderr %q", line, err, &c.problems)
	}
	c.at.said.WriteString(line)
	return found[1], found[2]
}

// end waits, and returns what was printed since, and the exit code.
func (c *typed) end() (stdout, problems string, code int) {
	c.at.t.Helper()
	rest, err := io.ReadAll(c.stdout)
	waited := c.Wait()
	if exit := (*exec.ExitError)(nil); err != nil || waited != nil && !errors.As(waited, &exit) {
		c.at.t.Fatal(err, waited)
	}
	c.at.said.Write(rest)
	c.at.said.Write(c.problems.Bytes())
	return string(rest), c.problems.String(), c.ProcessState.ExitCode()
}

// key is the one key in the credentials file.
func (at *terminal) key() string {
	at.t.Helper()
	content, err := os.ReadFile(at.file())
	if err != nil {
		at.t.Fatal(err)
	}
	var file struct {
		Credentials map[string]struct {
			Key string `json:"api_key"`
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		at.t.Fatal(err)
	}
	for _, entry := range file.Credentials {
		return entry.Key
	}
	at.t.Fatal("no key in the credentials file")
	return ""
}

// wrote is an error when anything but the lock is beside the place of the credentials file.
func (at *terminal) wrote() error {
	there, err := filepath.Glob(filepath.Join(filepath.Dir(at.file()), "*"))
	if err == nil && (len(there) != 1 || there[0] != at.file()+".lock") {
		err = fmt.Errorf("written: %s", there)
	}
	return err
}

// A user logs in, plans, and logs out again, with nothing in the environment and no
// address or key in the configuration.
func TestAccLogin_approvedInTheBrowser(t *testing.T) {
	// The plan reads the balance.
	env := acctest.Start(t, quick, acctest.WithoutQuirks("forbidden-balance"))
	user := newTerminal(t, acctest.Binary(t))
	workspace := env.Workspace(balance, append(append(user.config(), acctest.Traced()...), "GPURENT_BASE_URL=", "GPURENT_API_KEY=")...)
	browser := openPage(t)

	login := user.start("login", "--base-url", env.BaseURL, "--client-name", "my laptop", "--no-browser")
	address, code := login.question()
	browser.decide(address, code, "my laptop", "approve")
	browser.shows("Approved")
	stdout, problems, exit := login.end()
	if want := "Logged in to " + env.BaseURL + " as "; exit != 0 || !strings.HasPrefix(stdout, want) || strings.Count(stdout, "\n") != 1 || !strings.HasSuffix(stdout, user.file()+".\n") || problems != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", exit, stdout, problems)
	}
	info, err := os.Stat(user.file())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("the file has mode %v", info.Mode())
	}
	key := user.key()
	printed := workspace.Run("plan", "-no-color")
	if !strings.Contains(printed, "balance = ") {
		t.Errorf("the plan after the login:\n%s", printed)
	}

	stdout, problems, exit = user.start("logout").end()
	if exit != 0 || stdout != "Logged out of "+env.BaseURL+". The key was revoked.\n" || problems != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, stdout, problems)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
	printed += refusedPlan(t, workspace, nil, "Missing address of the service", "terraform-provider-gpurent login")
	printed += refusedPlan(t, workspace, []string{"GPURENT_BASE_URL=" + env.BaseURL}, "Missing API key", "terraform-provider-gpurent login")
	printed += refusedPlan(t, workspace, []string{"GPURENT_BASE_URL=" + env.BaseURL, "GPURENT_API_KEY=" + key}, "unauthorized", "terraform-provider-gpurent login")

	if err := acctest.Leak(key, map[string]string{"output": user.said.String(), "plan": printed, "log": workspace.Trace()}); err != nil {
		t.Error(err)
	}
	if strings.ContainsAny(user.said.String(), "\x1b\r\x07") {
		t.Errorf("control characters, where nobody looks at a terminal: %q", &user.said)
	}
}

// refusedPlan plans with more in the environment; the error must say all of the words.
func refusedPlan(t *testing.T, w *acctest.Workspace, env []string, words ...string) (output string) {
	t.Helper()
	var printed bytes.Buffer
	plan := w.Command(t.Context(), &printed, "plan", "-no-color")
	plan.Env = append(plan.Env, env...)
	err := plan.Run()
	for _, word := range words {
		if said := acctest.Words(strings.ReplaceAll(printed.String(), "│", "")); err == nil || !strings.Contains(said, word) {
			t.Errorf("%v; the plan does not say %q:\n%s", err, word, said)
		}
	}
	return printed.String()
}

func TestAccLogin_deniedInTheBrowser(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, quick)
	user := newTerminal(t, acctest.Binary(t), "GPURENT_BASE_URL="+env.BaseURL)
	browser := openPage(t)
	login := user.start("login", "--no-browser")
	address, code := login.question()
	browser.decide(address, code, "terraform-provider-gpurent", "deny")
	browser.shows("Denied")
	stdout, problems, exit := login.end()
	if exit != 1 || stdout != "" || strings.Count(problems, "\n") != 1 || !strings.HasPrefix(problems, "Error: the login was denied") {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, stdout, problems)
	}
	if err := errors.Join(user.wrote(), env.OnlyKeyLeft()); err != nil {
		t.Error(err)
	}
}

// A second login takes the place of the first, whose key is revoked; a key in the
// environment is told of.
func TestLoginAgain(t *testing.T) {
	env := acctest.Start(t, quick)
	user := newTerminal(t, os.Args[0], asBinary+"=1", "GPURENT_API_KEY="+env.APIKey)
	var keys []string
	for range 2 {
		login := user.start("login", "--base-url", env.BaseURL, "--no-browser")
		_, code := login.question()
		if err := env.DecideDeviceCode(code, true); err != nil {
			t.Fatal(err)
		}
		if stdout, problems, exit := login.end(); exit != 0 || !strings.Contains(problems, "Warning: GPURENT_API_KEY is set") || strings.Count(problems, "\n") != 1 {
			t.Fatalf("exit %d, stdout %q, stderr %q", exit, stdout, problems)
		}
		keys = append(keys, user.key())
	}
	if err := env.Left("api-keys", 2); err != nil || keys[0] == keys[1] {
		t.Errorf("want the first key of all and the last login's: %v", err)
	}
	for _, key := range append(keys, env.APIKey) {
		if err := acctest.Leak(key, map[string]string{"output": user.said.String()}); err != nil {
			t.Error(err)
		}
	}
}

func TestLoginIsInterrupted(t *testing.T) {
	needsSignals(t)
	env := acctest.Start(t, quick)
	for _, sign := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		user := newTerminal(t, os.Args[0], asBinary+"=1")
		login := user.start("login", "--base-url", env.BaseURL, "--no-browser")
		login.question()
		if err := login.Process.Signal(sign); err != nil {
			t.Fatal(err)
		}
		if stdout, problems, exit := login.end(); exit != 1 || stdout != "" || problems != "Error: login was cancelled\n" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", sign, exit, stdout, problems)
		}
		if err := errors.Join(user.wrote(), env.OnlyKeyLeft()); err != nil {
			t.Error(err)
		}
	}
}
