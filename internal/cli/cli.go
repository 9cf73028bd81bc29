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
		if !strings.HasSuffix(line, "?") {
			line = strings.TrimRight(line, ".") + "."
		}
		fmt.Fprintf(stderr, "Error: %s See %s --help.\n", line, selected.path())
	default:
		fmt.Fprintln(stderr, "Error:", err)
	}
	return status
}

// commands returns the commands for users, in the order of the help.
func commands() []command {
	return []command{
		costCommand(), gpusCommand(), loginCommand(), logoutCommand(), simulatorCommand(), unmanagedCommand(),
		versionCommand(),
	}
}

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// envHandshake is the variable with which Terraform and OpenTofu start a plugin. The plugin library checks its value.
const envHandshake = "TF_PLUGIN_MAGIC_COOKIE"

// rootCommand returns the command that runs when the arguments name none: the plugin, or for a user the help.
func rootCommand() command {
	return command{
		long: "Terraform and OpenTofu provider for rented GPU servers. " +
			"Terraform and OpenTofu start it as a plugin, without a command.",
		page: "command-line.md",
		prepare: func(flags *flag.FlagSet) runFunc {
			debugMode := flags.Bool("debug", false, "run the plugin for a debugger, and print how a CLI attaches to it")
			showVersion := flags.Bool("version", false, "print the version")
			return func(ctx context.Context, _ []string, stdout, _ io.Writer) error {
				file, isFile := stdout.(*os.File)
				switch {
				case *showVersion:
					return printVersion(stdout)
				case *debugMode || os.Getenv(envHandshake) != "":
					return servePlugin(ctx, *debugMode, stdout)
				case isFile && isTerminal(file):
					return rootCommand().help(flags, stdout)
				}
				return usageError("a command is missing: only Terraform and OpenTofu start the program without one")
			}
		},
	}
}

func versionCommand() command {
	return command{
		name:    "version",
		short:   "Print the version",
		example: program + " version",
		page:    "command-line.md",
		prepare: func(*flag.FlagSet) runFunc {
			return func(_ context.Context, _ []string, stdout, _ io.Writer) error { return printVersion(stdout) }
		},
	}
}

func printVersion(stdout io.Writer) error {
	_, err := fmt.Fprintln(stdout, program, fullVersion())
	return err
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
