// Command bench measures what the provider costs: requests, time, processor time
// and memory, of a real Terraform or OpenTofu against the simulator of the
// service. Every work is done beside two references: the same binary that reads
// nothing (what the CLI and the framework cost) and that reads one by one (what a
// provider commonly does). What came out is held against the goals.
//
//	bench [-quick] [-only REGEXP] [-repeat N] [-out DIR]
//	bench -markdown
//
// A whole run takes more than an hour and replaces the committed results; a
// partial one writes only where -out says.
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

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const defaultRepeat = 3

// options are the flags.
type options struct {
	only     *regexp.Regexp // of the names of rows; nil for all
	repeat   int
	quick    bool
	out      string
	markdown bool
}

// partial says whether the run leaves rows out or measures them too seldom to
// stand for a whole one.
func (o options) partial() bool { return o.only != nil || o.quick || o.repeat < defaultRepeat }

func (o options) wants(c Cell) bool { return o.only == nil || o.only.MatchString(c.String()) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	opts, err := parse(args)
	if err != nil {
		return err
	}
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	if opts.markdown {
		results, err := readResults(filepath.Join(root, filepath.FromSlash(committedResults)))
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, markdown(results))
		return err
	}
	return measure(ctx, opts, root, out)
}

func parse(args []string) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&only, "only", "", "measure the rows whose name matches this regular expression")
	flags.IntVar(&o.repeat, "repeat", defaultRepeat, "how often a row is measured; what takes a minute is measured once")
	flags.BoolVar(&o.quick, "quick", false, "up to 200 servers, each row once, nothing that waits for minutes")
	flags.StringVar(&o.out, "out", "", "folder for the results; those of a whole run replace the committed ones by default")
	flags.BoolVar(&o.markdown, "markdown", false, "print the guide's table from the committed results and measure nothing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.repeat < 1 {
		return o, errors.New("no arguments are expected, and -repeat must be positive")
	}
	if o.quick {
		o.repeat = 1
	}
	if only != "" {
		pattern, err := regexp.Compile(only)
		if err != nil {
			return o, fmt.Errorf("-only: %w", err)
		}
		o.only = pattern
	}
	return o, nil
}
