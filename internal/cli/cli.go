// Package cli is the face of the binary: without arguments it is the plugin
// that Terraform starts; with arguments, a command for people.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// version is set by the release build.
var version = "dev"

// Main runs the binary with its arguments, without the program's name, and
// returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	working := false
	noteWork(root, &working)
	called, err := root.ExecuteContextC(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case working && !errors.As(err, &usage):
		fmt.Fprintln(stderr, "Error:", err)
		return exitFailure
	default:
		line, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(stderr, "Error: %s. See %s --help.\n", strings.TrimRight(line, "."), called.CommandPath())
		return exitUsage
	}
}

// usageError is an error about how a command was called that its own work found.
type usageError struct{ error }

// noteWork notes when a command's own work begins: an error before that is
// about how it was called.
func noteWork(command *cobra.Command, working *bool) {
	if work := command.RunE; work != nil {
		command.RunE = func(cmd *cobra.Command, args []string) error {
			*working = true
			return work(cmd, args)
		}
	}
	for _, sub := range command.Commands() {
		noteWork(sub, working)
	}
}

func newRoot() *cobra.Command {
	var debugger bool
	root := &cobra.Command{
		Use:           "terraform-provider-gpurent",
		Short:         "Terraform and OpenTofu provider for rented GPU servers",
		Long:          "Without a command this is a plugin: Terraform and OpenTofu start it themselves.",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(*cobra.Command, []string) error { return servePlugin(debugger) },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Flags().BoolVar(&debugger, "debug", false, "run as a plugin that a debugger can attach to")
	root.AddCommand(newSimulator(), newVersion())
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "terraform-provider-gpurent", fullVersion())
			return err
		},
	}
}

// fullVersion is the released version, or what Go's build information knows.
func fullVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "dev" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}
