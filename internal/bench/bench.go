package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// bench is a run of measurements.
type bench struct {
	options
	out      io.Writer
	folder   string // for everything that is made on the way
	cli      clis.CLI
	provider clis.Installed // the build for measurements
	fleets   map[fleetKey]*workspace
	places   int // workspaces made so far
	results  Results

	mu       sync.Mutex
	troubles []error
}

// group is measured together: each round has one measurement of each member, in
// random order, so that what else the machine does falls on all alike.
type group []member

// member is a cell and how it is measured. An error says that there is no valid
// measurement; the CLI's exit code is part of the sample.
type member struct {
	cell    Cell
	once    bool                  // whatever -repeat says: it takes a minute or more
	takes   time.Duration         // about
	prepare func(context.Context) // what would disturb others that are measured meanwhile; may be nil
	measure func(context.Context) (sample, error)
}

// measure is the whole program: prepare, measure, judge, tell.
func measure(ctx context.Context, opts options, root string, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "gpurent-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	b := &bench{options: opts, out: out, folder: folder, fleets: map[fleetKey]*workspace{}}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.prepare(ctx, root); err != nil {
		return err
	}
	if err := b.runAll(ctx, b.groups()); err != nil {
		return err
	}
	if b.wants(Cell{Work: workProgram}) {
		if b.results.Program, err = measureProgram(ctx, root, folder, out); err != nil {
			b.trouble(fmt.Errorf("%s: %w", workProgram, err))
		}
	}
	b.results.Goals = judge(b.results)
	if err := b.tell(root); err != nil {
		return err
	}
	return errors.Join(append(b.troubles, missed(b.results.Goals)...)...)
}

// prepare finds a CLI and builds the provider for measurements.
func (b *bench) prepare(ctx context.Context, root string) (err error) {
	if b.cli, err = clis.One(ctx, b.out); err != nil {
		return err
	}
	place := filepath.Join(b.folder, "provider")
	if err := os.Mkdir(place, folderMode); err != nil {
		return err
	}
	if b.provider, err = clis.Install(ctx, root, place, "-tags=bench"); err != nil {
		return err
	}
	b.results = Results{
		Date: time.Now().UTC().Format(time.DateOnly), CLI: b.cli.String(), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Repeat: b.repeat,
	}
	return nil
}

// groups is everything there is to measure that -only and -quick leave.
func (b *bench) groups() []group {
	var kept []group
	for _, all := range [][]group{b.controls(), b.refreshes(), b.plans(), b.others(), b.lives()} {
		for _, g := range all {
			var wanted group
			for _, m := range g {
				if b.wants(m.cell) {
					wanted = append(wanted, m)
				}
			}
			if len(wanted) > 0 {
				kept = append(kept, wanted)
			}
		}
	}
	return kept
}

func (b *bench) runAll(ctx context.Context, groups []group) error {
	p := newProgress(b.out, groups, b.repeat)
	for _, g := range groups {
		p.begin(g)
		rows := b.runGroup(ctx, g)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		b.results.Rows = append(b.results.Rows, rows...)
		p.end(g, rows)
	}
	return nil
}

// runGroup measures in rounds. A member that fails is not measured again: it
// would only fail more slowly.
func (b *bench) runGroup(ctx context.Context, g group) []Row {
	samples := make([][]sample, len(g))
	failed := make([]bool, len(g))
	take := func(i int) {
		s, err := g[i].measure(ctx)
		if err == nil {
			samples[i] = append(samples[i], s)
		}
		if err == nil && s.exit != 0 {
			err = fmt.Errorf("exit code %d\n%s", s.exit, tail(s.output))
		}
		if err != nil && ctx.Err() == nil {
			failed[i] = true
			b.trouble(fmt.Errorf("%s: %w", g[i].cell, err))
		}
	}
	b.takeWaiting(ctx, g, take)
	for range b.repeat {
		for _, i := range rand.Perm(len(g)) {
			if !g[i].once && !failed[i] && ctx.Err() == nil {
				take(i)
			}
		}
	}
	var rows []Row
	for i, taken := range samples {
		if len(taken) > 0 {
			rows = append(rows, summarize(g[i].cell, taken))
		}
	}
	return rows
}

// takeWaiting measures those that are measured once, all at the same time: they do
// nothing but wait for the limit, each for that of a service of its own.
func (b *bench) takeWaiting(ctx context.Context, g group, take func(int)) {
	for _, m := range g {
		if m.once && m.prepare != nil {
			m.prepare(ctx)
		}
	}
	var waiting sync.WaitGroup
	for i, m := range g {
		if m.once {
			waiting.Go(func() { take(i) })
		}
	}
	waiting.Wait()
}

// trouble is told at once and makes the whole run fail at its end: what can be
// measured still is.
func (b *bench) trouble(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.troubles = append(b.troubles, err)
	fmt.Fprintf(b.out, "FAILED %v\n", err)
}

// workspace makes an empty folder for a CLI that uses a service.
func (b *bench) workspace(w *world) (*workspace, error) {
	b.places++
	place := &workspace{cli: b.cli, config: b.provider.Config, folder: filepath.Join(b.folder, "work"+strconv.Itoa(b.places)), world: w}
	return place, os.Mkdir(place.folder, folderMode)
}

// observe runs the CLI on a service of the cell's kind and counts its requests.
func observe(ctx context.Context, place *workspace, c Cell, reads string, args ...string) (sample, error) {
	place.world.prepare(c)
	s, err := place.run(ctx, reads, args...)
	if err != nil {
		return s, err
	}
	s.requests, err = place.world.tally()
	return s, err
}

func (b *bench) close() error {
	var err error
	for _, place := range b.fleets {
		err = errors.Join(err, place.world.close())
	}
	return err
}

// tell prints the tables and writes the files.
func (b *bench) tell(root string) error {
	var text strings.Builder
	table(&text, b.results)
	if _, err := io.WriteString(b.out, text.String()); err != nil {
		return err
	}
	results, plotted := filepath.Join(b.options.out, filepath.Base(committedResults)), filepath.Join(b.options.out, filepath.Base(committedPlot))
	switch {
	case b.options.out != "":
		if err := os.MkdirAll(b.options.out, folderMode); err != nil {
			return err
		}
	case b.partial():
		fmt.Fprintln(b.out, "\nThis was a partial run: it is written nowhere without -out.")
		return nil
	default:
		results, plotted = filepath.Join(root, filepath.FromSlash(committedResults)), filepath.Join(root, filepath.FromSlash(committedPlot))
	}
	if err := writeResults(results, b.results); err != nil {
		return err
	}
	if b.options.out == "" {
		if err := writeSection(filepath.Join(root, filepath.FromSlash(committedGuide)), b.results); err != nil {
			return err
		}
	}
	drawn, err := plot(b.results)
	if err != nil {
		return err
	}
	return os.WriteFile(plotted, []byte(drawn), sharedMode)
}
