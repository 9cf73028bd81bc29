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

// command is something that the binary does.
type command struct {
	name  string // "" for the program without a command
	short string // for the list of commands
	long  string // for its own help; "" for short
	// prepare declares the flags and returns what to do once they are read.
	prepare func(*flag.FlagSet) work
}

// work is what a command does. An error is about the work, but for a usageError.
type work func(ctx context.Context, stdout, stderr io.Writer) error

// usageError is an error about how a command was called.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// find tells the command from its own arguments. "help NAME" stands for
// "NAME --help".
func find(args []string) (command, []string) {
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

// path is what one types to call the command.
func (c command) path() string { return strings.TrimSpace(program + " " + c.name) }

func (c command) run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet(c.path(), flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line says what is wrong, and Main writes it
	do := c.prepare(flags)
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
	return do(ctx, stdout, stderr)
}

// help writes all there is to know about a command.
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
		fmt.Fprintf(table, "  %s\t%s%s\n", strings.TrimSpace("--"+f.Name+" "+value), usage, byDefault(f.DefValue))
	})
	fmt.Fprint(table, "  --help\tshow this\n")
	return table.Flush()
}

// byDefault tells a default that says something.
func byDefault(value string) string {
	if slices.Contains([]string{"", "0", "0s", "false"}, value) {
		return ""
	}
	return fmt.Sprintf(" (default %s)", value)
}
