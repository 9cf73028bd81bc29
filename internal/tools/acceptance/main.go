// Command acceptance runs the acceptance tests (the tests named TestAcc...) with one, all or a certain CLI: see
// clis.Find. The tests need no network: each test starts a simulator.
//
//	acceptance one|all|terraform|tofu [PACKAGE...] [FLAG...]
//
// The other arguments are those of go test. The default is all packages that have acceptance tests, and -run=^TestAcc.
//
// Without other arguments, the tests run with the first CLI against the plain simulator and with the second against a
// simulator with all quirks: a sample of each combination. "make guides" and "make quirks" run all combinations.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	gotestsumModule = "internal/tools/gotestsum/go.mod"
	// shutdownTimeout is the time that interrupted tests have to stop their CLIs.
	shutdownTimeout = 10 * time.Second
)

// measured are the build flags of a provider that counts the statements it executes.
var measured = []string{"-cover", "-coverpkg=./..."}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := errors.New("usage: acceptance one|all|terraform|tofu [PACKAGE...] [FLAG...]")
	if len(os.Args) > 1 {
		err = run(ctx, os.Stdout, os.Args[1], os.Args[2:])
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		os.Exit(1)
	}
}

// run tests with one CLI after the other, because the tests of one CLI keep all cores busy. A failure with the first
// CLI does not keep run from testing with the second.
func run(ctx context.Context, out io.Writer, selection string, arguments []string) (err error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	sample := len(arguments) == 0
	if arguments, err = withPackages(os.DirFS(root), arguments); err != nil {
		return err
	}
	found, err := clis.Find(ctx, selection, out)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurent-acceptance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	buildFlags := []string{"-ldflags=-s -w"}
	if slices.Contains(arguments, measured[0]) {
		buildFlags = measured
	}
	provider, err := clis.Install(ctx, root, folder, buildFlags...)
	if err != nil {
		return err
	}
	var failed error
	var logs []string
	for n, cli := range found {
		flags := slices.Clone(arguments)
		if sample && n > 0 {
			flags = append(flags, "-acctest.quirks=all")
		}
		log := filepath.Join(folder, cli.Name+".json")
		logs = append(logs, log)
		// With the share, a test that does not depend on the CLI runs with the first CLI only: see internal/acctest.
		env := append(environ(cli, provider), fmt.Sprintf("GPURENT_TEST_SHARE=%d/%d", n+1, len(found)))
		if err := testWith(ctx, out, cli, root, log, env, flags); err != nil {
			failed = errors.Join(failed, fmt.Errorf("with %s: %w", cli, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failed != nil {
		return failed
	}
	return command(ctx, out, root, append([]string{"run", "./internal/tools/skips"}, logs...)...).Run()
}

// testWith runs the tests with one CLI and writes their events to the file log.
func testWith(ctx context.Context, out io.Writer, cli clis.CLI, root, log string, env, arguments []string) error {
	if _, err := fmt.Fprintf(out, "\nAcceptance tests with %s\n", cli.Describe()); err != nil {
		return err
	}
	tests := command(ctx, out, root, slices.Concat([]string{
		"tool", "-modfile=" + gotestsumModule, "gotestsum", "--format=standard-quiet", "--hide-summary=skipped",
		"--jsonfile=" + log, "--", "-count=1",
	}, flags(), arguments)...)
	tests.Env = clis.Environ(env...)
	return tests.Run()
}

// flags are the default flags of go test. The caller's flags come later on the command line and override them.
func flags() []string {
	return []string{
		"-p=" + strconv.Itoa(runtime.NumCPU()+1), // packages at once: some of them mostly wait
		// Tests of a package at once. They wait for processes to start more than they compute, so two tests per core are
		// faster than one.
		"-parallel=8",
		"-ldflags=-s -w", // halves the time to link the test binaries
		"-vet=off",       // make unit runs go vet
		"-run=^" + acceptanceTests,
	}
}

// environ returns the environment of acceptance tests with the CLI and a provider that all packages share.
func environ(cli clis.CLI, provider clis.Installed) []string {
	// Hundreds of CLI processes live for a second each: with the default GOGC, a quarter of their work is collecting
	// garbage.
	env := []string{
		"TF_ACC=1", "TF_ACC_TERRAFORM_PATH=" + cli.Path, "GOGC=400", "GPURENT_TEST_BINARY=" + provider.Binary,
	}
	if host := cli.ProviderHost(); host != "" {
		env = append(env, "TF_ACC_PROVIDER_HOST="+host)
	}
	return env
}

// command prepares a go command in the module's root folder. The end of ctx interrupts it, so that each test can stop
// its CLI.
func command(ctx context.Context, out io.Writer, root string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // the caller may run any command
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, out, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = shutdownTimeout
	return cmd
}
