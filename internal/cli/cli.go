// Package cli implements the command line of the binary. Without a command, the binary is the plugin that Terraform
// starts; the commands are for users.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
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

// program is the name of the binary.
const program = "terraform-provider-gpurent"

// version is the version of a release. The release build sets it with a linker flag.
var version = "dev"

// Main runs the binary with its arguments, without the name of the program, and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	// With GODEBUG=http2debug, net/http and the HTTP/2 package of gRPC write headers and up to 256 bytes of each frame to
	// the standard log: API keys, secrets and the provider configuration. A filter cannot find all of them, because frames
	// and header compression split and encode them. The provider and the simulator have separate loggers.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	selected, rest := selectCommand(args)
	err := selected.run(ctx, rest, stdout, stderr)
	if err == nil {
		return 0
	}
	status := exitFailure
	if exit, ok := errors.AsType[*exitError](err); ok {
		status, err = exit.status, exit.error
	}
	switch {
	case err == nil:
	case status == exitUsage:
		line, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(stderr, "Error: %s. See %s --help.\n", strings.TrimRight(line, "."), selected.path())
	default:
		fmt.Fprintln(stderr, "Error:", err)
	}
	return status
}

// commands returns the commands for users, in the order of the help.
func commands() []command {
	return []command{
		costCommand(), loginCommand(), logoutCommand(), simulatorCommand(), unmanagedCommand(), versionCommand(),
	}
}

// rootCommand returns the command that runs when the arguments name none: the plugin.
func rootCommand() command {
	return command{
		long: "Terraform and OpenTofu provider for rented GPU servers. " +
			"Without a command it runs as a plugin, which Terraform and OpenTofu start.",
		prepare: func(flags *flag.FlagSet) runFunc {
			debugMode := flags.Bool("debug", false, "run the plugin for a debugger, without Terraform")
			return func(ctx context.Context, _ []string, _, _ io.Writer) error { return servePlugin(ctx, *debugMode) }
		},
	}
}

func versionCommand() command {
	return command{
		name:  "version",
		short: "Print the version",
		prepare: func(*flag.FlagSet) runFunc {
			return func(_ context.Context, _ []string, stdout, _ io.Writer) error {
				_, err := fmt.Fprintln(stdout, program, fullVersion())
				return err
			}
		},
	}
}

// fullVersion returns the version of a release, else the module version from the build information, else "dev".
func fullVersion() string {
	if version != "dev" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}
