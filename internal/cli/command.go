package cli

import (
	"cmp"
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
	args  string // positional arguments in the help; empty if the command has none
	// example is a command line that works as it stands; empty for the root command.
	example string
	page    string // in docs/guides, with the anchor
	// prepare declares the flags. The function that it returns runs after they are parsed.
	prepare func(*flag.FlagSet) runFunc
}

// guides is the address of the pages of commands.
const guides = "https://github.com/gpurent/terraform-provider-gpurent/blob/main/docs/guides/"

// runFunc runs a command with its positional arguments.
type runFunc func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// exitError ends a command with a status other than 1.
type exitError struct {
	status int
	error  // nil if the output of the command contains the reason
}

func (e *exitError) Unwrap() error { return e.error }

// usageError reports invalid arguments or flags.
func usageError(format string, values ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, values...)}
}

// checkFormat returns an error for an unknown --format.
func checkFormat(format string, known ...string) error {
	if slices.Contains(known, format) {
		return nil
	}
	return usageError("unknown format %q: use %s", format, strings.Join(known, ", "))
}

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
		return usageError("unknown command %q%s", args[0], didYouMean(args[0], commandNames()))
	}
	positional, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.help(flags, stdout)
	case err != nil:
		return err
	case len(positional) > 0 && c.args == "":
		return usageError("unexpected argument %q", positional[0])
	}
	return run(ctx, positional, stdout, stderr)
}

// parse parses flags before, between and after the positional arguments, and returns those.
func parse(flags *flag.FlagSet, args []string) (positional []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, flagError(flags, args[len(args)-flags.NArg()-1], err)
		}
		rest := flags.Args()
		if len(rest) == 0 {
			return positional, nil
		}
		if parsed := len(args) - len(rest); parsed > 0 && args[parsed-1] == "--" {
			return append(positional, rest...), nil
		}
		positional, args = append(positional, rest[0]), rest[1:]
	}
}

// flagError returns the usage error for a flag: the last argument that was parsed, or the value of that flag.
func flagError(flags *flag.FlagSet, argument string, err error) error {
	name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
	if !strings.HasPrefix(argument, "-") || flags.Lookup(name) != nil {
		return usageError("%w", err)
	}
	var known []string
	flags.VisitAll(func(f *flag.Flag) { known = append(known, "--"+f.Name) })
	return usageError("unknown flag --%s%s", name, didYouMean("--"+name, known))
}

// help prints the description, usage, flags and page of the command.
func (c command) help(flags *flag.FlagSet, stdout io.Writer) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "%s\n\nUsage:\n  %s\n", cmp.Or(c.long, c.short+"."), strings.TrimSpace(c.path()+" [flags] "+c.args))
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
	if c.example != "" {
		fmt.Fprintf(table, "\nExample:\n  %s\n", c.example)
	}
	fmt.Fprintf(table, "\nDocumentation: %s%s\n", guides, c.page)
	return table.Flush()
}

// defaultSuffix returns " (default VALUE)", or an empty string for a zero value.
func defaultSuffix(value string) string {
	if slices.Contains([]string{"", "0", "0s", "false"}, value) {
		return ""
	}
	return fmt.Sprintf(" (default %s)", value)
}
