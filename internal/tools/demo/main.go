// Command demo demonstrates the provider. It builds the provider, starts the simulator, and creates, changes and
// destroys examples/team with Terraform or OpenTofu. It makes no request outside this machine, and costs no money.
//
// It prints each step and fails if a step has an unexpected result.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const example = "examples/team"

func main() {
	// SIGPIPE, for example in make demo | head, must stop the simulator, too.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	begin := time.Now()
	out := &report{out: os.Stdout}
	err := run(ctx, out)
	if ctx.Err() != nil {
		err = errors.New("interrupted; no process is left")
	}
	stop()
	if err == nil {
		out.line("\nThe demo passed in %.0f seconds.", time.Since(begin).Seconds())
		err = out.err
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
		os.Exit(1)
	}
}

// run prepares a folder, the provider, the simulator and the CLI, runs the steps, and cleans up.
func run(ctx context.Context, out *report) (err error) {
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	cli, err := clis.One(ctx, os.Stdout)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurent-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()

	out.line("CLI        %s", cli)
	var provider clis.Installed
	err = out.step("provider", func() (string, error) {
		provider, err = clis.Install(ctx, root, folder)
		return "built", err
	})
	if err != nil {
		return err
	}
	sim, err := startSimulator(ctx, provider.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.stop(err != nil)) }()
	out.line("simulator  %s (one minute there takes one second)\n", sim.BaseURL)

	work := filepath.Join(folder, "team")
	if err := os.CopyFS(work, os.DirFS(filepath.Join(root, filepath.FromSlash(example)))); err != nil {
		return err
	}
	return runSteps(ctx, out, newDriver(cli, provider, work, sim), newService(sim))
}
