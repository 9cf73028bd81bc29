package handbook_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// script is a shell script with its folder and environment. The default shell is sh -e.
type script struct {
	text, folder string
	shell, env   []string
}

// stepTimeout limits the run time of a script.
const stepTimeout = 5 * time.Minute

// run runs the script and returns its output and exit status.
func (s script) run(t *testing.T) (output string, status int) {
	t.Helper()
	return s.runUntil(t.Context(), t)
}

// runUntil interrupts the first process of the script when the context ends, as CI services do.
func (s script) runUntil(ctx context.Context, t *testing.T) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(s.text), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := s.shell
	if shell == nil {
		shell = []string{"sh", "-e"}
	}
	var output bytes.Buffer
	command := exec.CommandContext(ctx, shell[0], append(slices.Clone(shell[1:]), file)...)
	command.Dir, command.Env, command.Stdout, command.Stderr = s.folder, s.env, &output, &output
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	err := command.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return output.String(), command.ProcessState.ExitCode()
}

// must runs a script that must succeed and returns its output.
func (s script) must(t *testing.T) string {
	t.Helper()
	output, status := s.run(t)
	if status != 0 {
		t.Fatalf("exit status %d:\n%s\n%s", status, s.text, output)
	}
	return output
}

// shells returns the shells of this machine that pipelines may have as sh.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	needs(t, "sh")
	found := map[string][]string{}
	for _, command := range [][]string{{"bash"}, {"dash"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(command[0]); err == nil {
			found[command[0]] = command
		}
	}
	if len(found) == 0 {
		found["sh"] = []string{"sh"}
	}
	return found
}

// needs skips a test on a machine that lacks one of the programs.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the documentation are for a POSIX shell")
	}
	for _, program := range programs {
		testenv.Program(t, program)
	}
}

// write writes a file, and a program for sh if the text begins with #!.
func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	mode := os.FileMode(0o600)
	if strings.HasPrefix(text, "#!") {
		mode = 0o700
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
	return file
}

// checkout copies a folder, which becomes a user's repository.
func checkout(t *testing.T, from, folder string) {
	t.Helper()
	if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// expectWords expects these parts in a text, in any order.
func expectWords(t *testing.T, output string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(plainWords(output), part) {
			t.Errorf("the output has no %q:\n%s", part, output)
		}
	}
}

// cliCommand matches the name of the CLI in a command. "terraform {" begins a block.
var cliCommand = regexp.MustCompile(`\bterraform ([^{])`)

// withCLI replaces terraform by the name of the CLI under test.
func withCLI(cli, text string) string { return cliCommand.ReplaceAllString(text, cli+" $1") }
