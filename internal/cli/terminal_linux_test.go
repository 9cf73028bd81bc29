package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// openTerminal returns both ends of a pseudoterminal: that of a person, and that of a program.
func openTerminal(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return person, terminal
}

// On a terminal, no command waits for input that nobody types, and the bare program lists its commands. The variable
// with which a CLI starts a plugin decides first.
func TestCommands_OnTerminal(t *testing.T) {
	const cookie = "TF_PLUGIN_MAGIC_COOKIE"
	for _, test := range []struct {
		line, env string
		piped     bool // stdout is a pipe
		code      int
		want      string
	}{
		{line: "", code: 0, want: "\r\nCommands:\r\n"},
		{line: "", env: cookie + "=other", code: 1, want: "This binary is a plugin"},
		{line: "", piped: true, code: 2, want: "Error: a command is missing"},
		{line: "cost", code: 2, want: "Error: standard input is a terminal: give a file, or the output of " +
			`"terraform show -json saved.plan". See ` + program + " cost --help.\r\n"},
		{line: "cost --format json -", code: 2, want: "Error: standard input is a terminal"},
		{line: "unmanaged -", code: 2, want: `the output of "terraform show -json". See ` + program + " unmanaged --help."},
		{line: "version", code: 0, want: program},
	} {
		person, terminal := openTerminal(t)
		command := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(test.line)...)
		command.Env = append(append(os.Environ(), testenv.Home(t.TempDir())...), envActAsBinary+"=1", test.env,
			"GPURENT_BASE_URL=http://127.0.0.1:1/api/v1", "GPURENT_API_KEY=k")
		command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
		if test.piped {
			command.Stdout = io.Discard
		}
		_ = command.Run() //nolint:errcheck // the exit code is checked
		_ = terminal.Close()
		output, _ := io.ReadAll(person) //nolint:errcheck // a terminal that nobody uses any more ends with EIO
		if code := command.ProcessState.ExitCode(); code != test.code || !strings.Contains(string(output), test.want) {
			t.Errorf("%q: exit %d, %q, want %d, %q", test.line, code, output, test.code, test.want)
		}
	}
}
