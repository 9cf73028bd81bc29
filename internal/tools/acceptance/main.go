// Command acceptance runs the acceptance tests (the tests named TestAcc...) with
// Terraform and with OpenTofu. It builds the CLI that PATH lacks or has in an old
// version. The tests need no network: each test starts a simulator of the service.
//
//	acceptance [PACKAGE...] [FLAG...]
//
// Packages, such as "./folder", restrict the run to their tests, and flags are
// passed to go test: the long runs use both. GPURENT_TEST_CLI=terraform, or tofu,
// tests only with that CLI from PATH.
//
// Without arguments, the first CLI tests against the plain simulator and the second against one with all quirks: a
// sample of each combination. "make guides" and "make quirks" run them all.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// shutdownTimeout limits how long interrupted tests may take to end.
const shutdownTimeout = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		os.Exit(1)
	}
}

// run tests with one CLI after the other: the tests of one CLI already keep all
// cores busy. After a failure with one CLI it still tests the next.
func run(ctx context.Context, out io.Writer, arguments []string) (failed error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	sample := len(arguments) == 0
	if arguments, err = withPackages(os.DirFS(root), arguments); err != nil {
		return err
	}
	found, err := clis.All(ctx, out)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurent-acceptance-")
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, os.RemoveAll(folder)) }()
	provider, err := clis.Install(ctx, root, folder, "-ldflags=-s -w")
	if err != nil {
		return err
	}
	for n, cli := range found {
		// What does not depend on the CLI runs on the first, or is split: see internal/acctest.
		env := append(cli.AcceptanceEnv(provider), fmt.Sprintf("GPURENT_TEST_SHARE=%d/%d", n+1, len(found)))
		flags := slices.Clone(arguments)
		if sample && n > 0 {
			flags = append(flags, "-acctest.quirks=all")
		}
		if err := testWith(ctx, out, cli, root, env, flags); err != nil {
			failed = errors.Join(failed, fmt.Errorf("with %s: %w", cli, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// testWith runs the tests with one CLI. It fails if a test fails or no test runs.
func testWith(ctx context.Context, out io.Writer, cli clis.CLI, root string, env, arguments []string) (err error) {
	if _, err := fmt.Fprintf(out, "\nAcceptance tests with %s%s\n", cli.Describe(), quirks(arguments)); err != nil {
		return err
	}
	begin := time.Now()
	// The caller's flags come last and override the defaults.
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-json", "-count=1"}, clis.AcceptanceFlags(), arguments)...) //nolint:gosec // the caller may run any command
	cmd.Dir = root
	cmd.Env = clis.Environ(env...)
	cmd.Stderr = os.Stderr
	// An interrupt lets each test stop its CLI.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = shutdownTimeout
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	count, readErr := relay(events, out)
	err = errors.Join(readErr, cmd.Wait())
	if err == nil && count.passed == 0 {
		err = errors.New("no test ran")
	}
	status := "ok"
	if err != nil {
		status = "FAILED"
	}
	_, printErr := fmt.Fprintf(out, "%s: %s\n%s with %s in %.0f seconds\n", cli.Name, count, status, cli, time.Since(begin).Seconds())
	return errors.Join(err, printErr)
}

// quirks tells people which quirks the flags switch on.
func quirks(flags []string) string {
	for _, flag := range flags {
		if names, found := strings.CutPrefix(flag, "-acctest.quirks="); found {
			return ", and these quirks of the simulator: " + names
		}
	}
	return ""
}
