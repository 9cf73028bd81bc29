package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// envActAsBinary makes the test binary run the command line of the provider.
const envActAsBinary = "GPURENT_TEST_AS_BINARY"

// TestMain keeps tests that forget testenv.SetHome away from the configuration folder of the user, except on macOS,
// where the folder depends on HOME, which the go command needs.
func TestMain(m *testing.M) {
	if os.Getenv(envActAsBinary) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	folder, err := os.MkdirTemp("", "gpurent-config-")
	if own, ownErr := os.UserConfigDir(); ownErr == nil && os.Getenv("GOENV") == "" {
		// Tests build the binary with the settings of the go command.
		err = errors.Join(err, os.Setenv("GOENV", filepath.Join(own, "go", "env")))
	}
	if err = errors.Join(err, os.Setenv("XDG_CONFIG_HOME", folder), os.Setenv("AppData", folder)); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// user runs commands of the binary with a separate home, and without the variables of the provider.
type user struct {
	t      *testing.T
	home   string
	env    []string // additional variables
	stdin  string
	output bytes.Buffer // stdout and stderr of all commands that have ended
}

func newUser(t *testing.T, env ...string) *user {
	t.Helper()
	return &user{t: t, home: t.TempDir(), env: env}
}

// key returns the key of a login; empty without one.
func (u *user) key(baseURL string) string {
	u.t.Helper()
	file, err := credentials.Load(filepath.Join(testenv.ConfigDir(u.home), "gpurent", "credentials.json"))
	if err != nil {
		u.t.Fatal(err)
	}
	return file.Key(baseURL)
}

// process is a command that runs.
type process struct {
	*exec.Cmd
	user   *user
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func (u *user) start(arguments ...string) *process {
	u.t.Helper()
	p := &process{Cmd: exec.CommandContext(u.t.Context(), os.Args[0], arguments...), user: u}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GPURENT_") {
			p.Env = append(p.Env, pair)
		}
	}
	p.Env = append(append(append(p.Env, testenv.Home(u.home)...), envActAsBinary+"=1"), u.env...)
	p.Stdin, p.Stderr = strings.NewReader(u.stdin), &p.stderr
	pipe, err := p.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		u.t.Fatal(err)
	}
	p.stdout = bufio.NewReader(pipe)
	return p
}

// line reads a line of stdout.
func (p *process) line() string {
	p.user.t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		p.user.t.Fatalf("%q, %v; stderr %q", line, err, &p.stderr)
	}
	p.user.output.WriteString(line)
	return line
}

// wait waits for the end of the command. It returns the output that was not read, and the exit code: -1 after a kill.
func (p *process) wait() (stdout, stderr string, code int) {
	p.user.t.Helper()
	rest, err := io.ReadAll(p.stdout)
	waitErr := p.Wait()
	if exit := (*exec.ExitError)(nil); err != nil || waitErr != nil && !errors.As(waitErr, &exit) {
		p.user.t.Fatal(err, waitErr)
	}
	p.user.output.Write(rest)
	p.user.output.Write(p.stderr.Bytes())
	return string(rest), p.stderr.String(), p.ProcessState.ExitCode()
}

// run runs a command to its end.
func (u *user) run(arguments ...string) (stdout, stderr string, code int) {
	u.t.Helper()
	return u.start(arguments...).wait()
}

// writeFile writes a file for the test and returns its path.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCommands_StopOnSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals")
	}
	env := acctest.Start(t)
	for arguments, test := range map[string]struct {
		code   int
		stderr string // its end
	}{
		"simulator --clock manual":                     {0, ""},
		"login --no-browser --base-url " + env.BaseURL: {1, "Error: login was cancelled\n"},
	} {
		for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			command := newUser(t).start(strings.Fields(arguments)...)
			command.line()
			if err := command.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			stdout, stderr, code := command.wait()
			if code != test.code || stdout != "" || !strings.HasSuffix(stderr, test.stderr) {
				t.Errorf("%s, %s: exit %d, %q, %q", arguments, sig, code, stdout, stderr)
			}
		}
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
}
