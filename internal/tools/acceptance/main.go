// Command acceptance runs the acceptance tests (the tests named TestAcc...) with
// every Terraform and OpenTofu of this machine, and with an OpenTofu built from
// source where there is none. They need no network: each test starts a simulator
// of the service.
//
//	acceptance [PACKAGE... [FLAG...]]
//
// Packages, as "./folder", are tested alone, and flags are handed to go test: the
// long runs are made so. GPURENT_TEST_CLI=terraform, or tofu, tests with that one
// alone, as PATH has it.
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
	"syscall"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// farewell is how long interrupted tests may take to end.
	farewell = 10 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		os.Exit(1)
	}
}

// run tests with one CLI after another: the tests of one already keep all cores
// busy. A failure with one does not keep the next from being tested.
func run(ctx context.Context, out io.Writer, arguments []string) (failed error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	if len(arguments) == 0 {
		if arguments, err = packagesWithTests(os.DirFS(root)); err != nil {
			return err
		}
	}
	if len(arguments) == 0 {
		return errors.New("no package has acceptance tests")
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
	provider, err := clis.Install(ctx, root, folder)
	if err != nil {
		return err
	}
	for n, cli := range found {
		// Some long runs try half of what no CLI has a part in with each of two.
		env := append(cli.AcceptanceEnv(provider), fmt.Sprintf("GPURENT_TEST_SHARE=%d/%d", n+1, len(found)))
		if err := testWith(ctx, out, cli, root, env, arguments); err != nil {
			failed = errors.Join(failed, fmt.Errorf("with %s: %w", cli, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// testWith runs the tests with one CLI, and fails unless at least one ran and all that
// ran passed.
func testWith(ctx context.Context, out io.Writer, cli clis.CLI, root string, env, arguments []string) (err error) {
	if _, err := fmt.Fprintf(out, "\nAcceptance tests with %s (%s)\n", cli, cli.Path); err != nil {
		return err
	}
	begin := time.Now()
	// What the caller says comes last, and wins.
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-json", "-count=1"}, clis.AcceptanceFlags(), arguments)...) //nolint:gosec // who runs this may run anything
	cmd.Dir = root
	cmd.Env = clis.Environ(env...)
	cmd.Stderr = os.Stderr
	// Interrupted, a test destroys nothing of value, but it ends its CLI.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = farewell
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
	verdict := "ok"
	if err != nil {
		verdict = "FAILED"
	}
	_, printErr := fmt.Fprintf(out, "%s: %s\n%s with %s in %.0f seconds\n", cli.Name, count, verdict, cli, time.Since(begin).Seconds())
	return errors.Join(err, printErr)
}
