package handbook_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// script is a shell script with its folder and environment.
type script struct {
	name, text, folder string
	shell              []string
	env                []string
}

// stepTimeout limits the run time of a script.
const stepTimeout = 5 * time.Minute

// run runs the script and returns its output.
func (s script) run(t *testing.T) (string, error) {
	t.Helper()
	return s.runUntil(t.Context(), t)
}

// runUntil interrupts the first process of the script when the context ends, as CI services do.
func (s script) runUntil(ctx context.Context, t *testing.T) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(s.text), 0o600); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	command := exec.CommandContext(ctx, s.shell[0], append(slices.Clone(s.shell[1:]), file)...)
	command.Dir, command.Env, command.Stdout, command.Stderr = s.folder, s.env, &output, &output
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	err := command.Run()
	return output.String(), err
}

// must runs a script that must succeed and returns its output.
func (s script) must(t *testing.T) string {
	t.Helper()
	output, err := s.run(t)
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", s.name, err, s.text, output)
	}
	return output
}

// example returns the path of a file or folder of the examples.
func example(path ...string) string {
	return filepath.Join(append([]string{acctest.Root(), "examples"}, path...)...)
}

// checkout copies a folder, which becomes a user's repository.
func checkout(t *testing.T, from, folder string) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// stripColors removes the colors from the output of a CLI.
var stripColors = strings.NewReplacer(
	"\x1b[0m", "", "\x1b[1m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[90m", "",
)

// cliCommand matches the name of the CLI in a command. "terraform {" begins a block.
var cliCommand = regexp.MustCompile(`\bterraform ([^{])`)

// withCLI replaces terraform by the name of the CLI under test.
func withCLI(cli, text string) string { return cliCommand.ReplaceAllString(text, cli+" $1") }
