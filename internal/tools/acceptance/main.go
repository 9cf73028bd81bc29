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
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// tests is how the names of acceptance tests begin; "TestAccount" is none.
	tests = "TestAcc[A-Z]"
	// farewell is how long interrupted tests may take to end.
	farewell = 10 * time.Second
)

// atOnce is how many tests of a package run at the same time. They wait for
// processes to start more than they compute, so two a core are faster than one.
const atOnce = "4"

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
		env := []string{"GPURENT_TEST_BINARY=" + provider.Binary, fmt.Sprintf("GPURENT_TEST_SHARE=%d/%d", n+1, len(found))}
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
	packages := strconv.Itoa(runtime.NumCPU() + 1)                                                                                                                   // at once: some of them mostly wait
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1", "-p=" + packages, "-parallel=" + atOnce, "-run=^" + tests}, arguments...)...) //nolint:gosec // who runs this may run anything
	cmd.Dir = root
	// CLIs live for a second, hundreds of them: to collect garbage as eagerly as by
	// default is a quarter of their work.
	cmd.Env = append(clis.Environ("TF_ACC=1", "TF_ACC_TERRAFORM_PATH="+cli.Path, "GOGC=400"), env...)
	if host := cli.ProviderHost(); host != "" {
		cmd.Env = append(cmd.Env, "TF_ACC_PROVIDER_HOST="+host)
	}
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
