package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// command is a subcommand of the binary, or the binary without one.
type command struct {
	name  string // empty for the root command
	short string // description in the list of commands
	long  string // description in the help of the command; empty: the same as short
	// prepare declares the flags. The function that it returns runs after they are parsed.
	prepare func(*flag.FlagSet) runFunc
}

// runFunc runs a command. A usageError means that the arguments are invalid.
type runFunc func(ctx context.Context, stdout, stderr io.Writer) error

// usageError reports invalid arguments or flags.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// selectCommand returns the command that args name and the remaining arguments. "help NAME" is equivalent to
// "NAME --help".
func selectCommand(args []string) (command, []string) {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	for _, c := range commands() {
		if len(args) > 0 && args[0] == c.name {
			return c, args[1:]
		}
	}
	return rootCommand(), args
}

// path returns the command with the name of the program, as the user types it.
func (c command) path() string { return strings.TrimSpace(program + " " + c.name) }

func (c command) run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet(c.path(), flag.ContinueOnError)
	flags.SetOutput(io.Discard) // Main prints the error on one line
	run := c.prepare(flags)
	if c.name == "" && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return &usageError{fmt.Errorf("unknown command %q", args[0])}
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.help(flags, stdout)
	case err != nil:
		return &usageError{err}
	case flags.NArg() > 0:
		return &usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	return run(ctx, stdout, stderr)
}

// help prints the description, usage and flags of the command.
func (c command) help(flags *flag.FlagSet, stdout io.Writer) error {
	long := c.long
	if long == "" {
		long = c.short + "."
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "%s\n\nUsage:\n  %s [flags]\n", long, c.path())
	if c.name == "" {
		fmt.Fprintf(table, "  %s COMMAND [flags]\n\nCommands:\n", program)
		for _, sub := range commands() {
			fmt.Fprintf(table, "  %s\t%s\n", sub.name, sub.short)
		}
	}
	fmt.Fprint(table, "\nFlags:\n")
	flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(table, "  %s\t%s%s\n", strings.TrimSpace("--"+f.Name+" "+value), usage, defaultSuffix(f.DefValue))
	})
	fmt.Fprint(table, "  --help\tshow this help\n")
	return table.Flush()
}

// defaultSuffix returns " (default VALUE)", or an empty string for a zero value.
func defaultSuffix(value string) string {
	if slices.Contains([]string{"", "0", "0s", "false"}, value) {
		return ""
	}
	return fmt.Sprintf(" (default %s)", value)
}
