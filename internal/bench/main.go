// Command bench measures the time and the memory of the provider under a real CLI that uses the simulator. Each
// scenario also runs with a control, which is a provider that sends no requests. Some compare a fleet with as many
// instances with count instead. The verdict uses the ratio of the two, because absolute figures depend on the machine.
// The command fails if a ratio exceeds the scenario's bound.
// The tests of this package count requests.
//
//	bench [-root DIR] [-only REGEXP] [-repeat N] [-out FILE]
//
// To compare two commits, measure the checkout of each with -root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

// defaultRepeat is how often each scenario runs with the provider and with its control.
const defaultRepeat = 3

type options struct {
	root   string
	only   *regexp.Regexp
	repeat int
	out    string
}

func main() {
	if filepath.Base(os.Args[0]) == launcherName {
		os.Exit(launch())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	opts, err := parse(args)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurent-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	b, err := newBench(ctx, opts, folder, out)
	if err != nil {
		return err
	}
	rows, err := b.measureAll(ctx, out)
	if err != nil {
		return err
	}
	text := report(b.cli.String(), rows)
	if _, err := io.WriteString(out, "\n"+text); err != nil {
		return err
	}
	if opts.out != "" {
		if err := os.WriteFile(opts.out, []byte(text), reportMode); err != nil {
			return err
		}
	}
	return verdict(rows)
}

func parse(args []string) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", "", "checkout with the provider to measure; default: the current module")
	flags.StringVar(&only, "only", "", "run the scenarios whose name matches this regular expression")
	flags.IntVar(&o.repeat, "repeat", defaultRepeat, "runs of each scenario; the fastest counts")
	flags.StringVar(&o.out, "out", "", "file for the table, in Markdown")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.repeat < 1 {
		return o, errors.New("bench takes no arguments, and -repeat must be positive")
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	o.only = pattern
	return o, nil
}
