// Command demo demonstrates the provider: story.sh creates, changes and destroys examples/team against the simulator,
// with Terraform or OpenTofu from PATH, or built from source. It makes no request outside this machine.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "The demo failed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
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
	defer os.RemoveAll(folder)
	fmt.Fprintf(os.Stdout, "CLI        %s\n", cli)
	provider, err := clis.Install(ctx, root, folder)
	if err != nil {
		return err
	}
	work := filepath.Join(folder, "team")
	if err := os.CopyFS(work, os.DirFS(filepath.Join(root, "examples", "team"))); err != nil {
		return err
	}
	// A simulated hour takes a second.
	simulate := filepath.Join(root, "examples", "try-without-spending", "with-simulator.sh")
	story := filepath.Join(root, "internal", "tools", "demo", "story.sh")
	script := exec.CommandContext( //nolint:gosec // own paths
		ctx, "sh", simulate, "--time-scale", "3600", "--seed", "7", "--market", "still", "--", "sh", story)
	script.Dir, script.Stdout, script.Stderr = work, os.Stdout, os.Stderr
	script.Env = clis.Environ("TF="+cli.Path, "TF_CLI_CONFIG_FILE="+provider.Config, "TF_VAR_poll_interval=200ms",
		"TF_INPUT=0", "GPURENT_PROVIDER="+provider.Binary)
	// The script stops the simulator before it ends.
	script.Cancel = func() error { return script.Process.Signal(syscall.SIGTERM) }
	return script.Run()
}
