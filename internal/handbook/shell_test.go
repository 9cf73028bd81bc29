package handbook_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// asProvider makes the test binary behave as the provider's program.
const asProvider = "GPURENT_TEST_AS_PROVIDER=1"

func TestMain(m *testing.M) {
	if name, value, _ := strings.Cut(asProvider, "="); os.Getenv(name) == value {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// scriptTimeout limits the run time of a script.
const scriptTimeout = 10 * time.Minute

// run runs a script with bash, the functions of testdata/functions.sh and a variable with the path of testdata.
func run(t *testing.T, script, folder string, env []string) (output string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	var printed bytes.Buffer
	file := write(t, script, t.TempDir(), "script")
	handbook := inProject("internal", "handbook", "testdata")
	command := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-c",
		`set -eu; . "$HANDBOOK/functions.sh"; . "$0"`, file)
	command.Dir, command.Env = folder, slices.Concat(env, []string{"HANDBOOK=" + handbook})
	command.Stdout, command.Stderr = &printed, &printed
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	err := command.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return printed.String(), command.ProcessState.ExitCode()
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

// environ returns the environment of a shell without the developer's settings, logins and network. Its PATH begins
// with the given folders.
func environ(home string, path ...string) []string {
	const nowhere = "=http://127.0.0.1:1"
	variables := append(testenv.Home(home), "XDG_DATA_HOME="+filepath.Join(home, ".local", "share"),
		"TF_IN_AUTOMATION=", acctest.NoPluginTLS+"=1", "TF_VAR_poll_interval=200ms",
		"TF_CLI_ARGS_apply=-auto-approve", "TF_CLI_ARGS_destroy=-auto-approve",
		"PATH="+strings.Join(append(path, os.Getenv("PATH")), string(os.PathListSeparator)))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		variables = append(variables, name+nowhere, strings.ToLower(name)+nowhere)
	}
	return clis.Environ(append(variables, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")...)
}

// cliSetup has the CLI under test and the provider built from this tree.
type cliSetup struct {
	// cli is "terraform" or "tofu"; host is the default registry host of provider addresses.
	cli, host string
	// program is the provider binary; bin is a folder with the CLI.
	program, bin string
}

func newCLISetup(t *testing.T) *cliSetup {
	t.Helper()
	path := acctest.CLIPath(t)
	needs(t, "bash", "curl", "jq")
	cli, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	setup := &cliSetup{cli: "terraform", host: "registry.terraform.io", program: acctest.Binary(t), bin: t.TempDir()}
	other := "tofu"
	if cli.Name == "OpenTofu" {
		setup.cli, setup.host, other = "tofu", "registry.opentofu.org", "terraform"
	}
	if err := os.Symlink(path, filepath.Join(setup.bin, setup.cli)); err != nil {
		t.Fatal(err)
	}
	// Commands for one CLI must not run the other one.
	write(t, "#!/bin/sh\necho 'the test runs with "+setup.cli+"' >&2\nexit 97\n", setup.bin, other)
	return setup
}

// environ returns an environment with the CLI, the provider and a new home folder. "terraform init" installs the
// provider from its plugin folder, if it has one. The PATH begins with the given folders.
func (setup *cliSetup) environ(t *testing.T, plugins bool, path ...string) []string {
	t.Helper()
	home := t.TempDir()
	write(t, rentaltest.PublicKey+"\n", home, ".ssh", "id_ed25519.pub")
	write(t, "", home, ".ssh", "id_ed25519")
	if plugins {
		const version = "0.1.0" // the documented version constraints accept it
		plugin := write(t, "", home, ".terraform.d", "plugins", setup.host, "gpurent", "gpurent", version,
			runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-gpurent_v"+version)
		if err := errors.Join(os.Remove(plugin), os.Symlink(setup.program, plugin)); err != nil {
			t.Fatal(err)
		}
	}
	return append(environ(home, append(path, filepath.Dir(setup.program), setup.bin)...), "TF="+setup.cli)
}

// write writes a file, and a program if the text begins with #!.
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

// textOf returns the content of a file, with the line ends of Unix.
func textOf(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), "\r\n", "\n")
}

// inProject returns the path of a file or folder of this tree.
func inProject(path ...string) string {
	return filepath.Join(append([]string{acctest.Root()}, path...)...)
}

// notOurs are folders with what tools and readers have left in the tree.
var notOurs = []string{".git", ".terraform", "bin", "dist", "node_modules"}

// filesIn returns the files below a folder whose names have the suffix, as paths from there with slashes.
func filesIn(t *testing.T, folder, end string) (found []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(file string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && slices.Contains(notOurs, entry.Name()) {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() && strings.HasSuffix(file, end) {
			found = append(found, file)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d files *%s in %s: %v", len(found), end, folder, err)
	}
	return found
}
