// Command demo shows the provider at work: it builds it, starts the simulator of
// the rental service, and takes examples/fleet through its whole life with a
// real Terraform or OpenTofu. Nothing leaves this machine and nothing is paid.
//
// It prints a few lines about what happened and fails when anything is not as it
// should be.
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

const example = "examples/fleet"

func main() {
	// A reader that leaves (make demo | head) must not leave the simulator behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	begin := time.Now()
	out := &report{out: os.Stdout}
	err := run(ctx, out)
	if ctx.Err() != nil {
		err = errors.New("it was interrupted; nothing is left running")
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

// run prepares a folder, the provider, the simulator and the CLI, tells the
// story and tidies up, whatever happened.
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

	out.line("CLI        %s", cli.Describe())
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

	work := filepath.Join(folder, "fleet")
	if err := os.CopyFS(work, os.DirFS(filepath.Join(root, filepath.FromSlash(example)))); err != nil {
		return err
	}
	return tell(ctx, out, newDriver(cli, provider, work, sim), newService(sim))
}
