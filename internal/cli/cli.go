// Package cli is the face of the binary: without arguments it is the plugin
// that Terraform starts; with arguments, a command for people.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// program is what the binary is called.
const program = "terraform-provider-gpurent"

// version is set by the release build.
var version = "dev"

// Main runs the binary with its arguments, without the program's name, and
// returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	discardStandardLog()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	called, rest := find(args)
	err := called.run(ctx, rest, stdout, stderr)
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		line, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(stderr, "Error: %s. See %s --help.\n", strings.TrimRight(line, "."), called.path())
		return exitUsage
	default:
		fmt.Fprintln(stderr, "Error:", err)
		return exitFailure
	}
}

// commands are those for people, in the order of their help.
func commands() []command {
	return []command{loginCommand(), logoutCommand(), simulatorCommand(), versionCommand()}
}

// rootCommand is the program without a command: the plugin.
func rootCommand() command {
	return command{
		long: "Terraform and OpenTofu provider for rented GPU servers. Without a command this is a plugin: Terraform and OpenTofu start it themselves.",
		prepare: func(flags *flag.FlagSet) work {
			debugger := flags.Bool("debug", false, "run as a plugin that a debugger can attach to")
			return func(ctx context.Context, _, _ io.Writer) error { return servePlugin(ctx, *debugger) }
		},
	}
}

func versionCommand() command {
	return command{
		name:  "version",
		short: "Print the version",
		prepare: func(*flag.FlagSet) work {
			return func(_ context.Context, stdout, _ io.Writer) error {
				_, err := fmt.Fprintln(stdout, program, fullVersion())
				return err
			}
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
