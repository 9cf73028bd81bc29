package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// commandTimeout ends a CLI that hangs.
	commandTimeout = 20 * time.Minute
	// shutdownTimeout is how long an interrupted CLI may take to stop its provider.
	shutdownTimeout = 5 * time.Second

	fileMode   = 0o600
	reportMode = 0o644
	folderMode = 0o700
)

// releaseFlags are the flags of a release, except for those that compile all packages again.
var releaseFlags = []string{"-tags=grpcnotrace", "-ldflags=-s -w"}

type bench struct {
	options
	cli    clis.CLI
	folder string // temporary
	config string // TF_CLI_CONFIG_FILE
}

// sample is the time and memory of one run of a command. The zero value is no run.
type sample struct {
	wall     time.Duration
	cpu      time.Duration // of the provider's processes
	peakKB   int64         // of the largest of them
	requests int
}

// best combines the runs of a command. It takes the smallest times and memory, because other work on the machine only
// increases them.
func best(samples []sample) sample {
	all := samples[0]
	for _, s := range samples[1:] {
		all.wall, all.cpu, all.peakKB = min(all.wall, s.wall), min(all.cpu, s.cpu), min(all.peakKB, s.peakKB)
		all.requests = max(all.requests, s.requests)
	}
	return all
}

// newBench builds the programs and installs the launcher as the provider of the CLI.
func newBench(ctx context.Context, opts options, folder string, out io.Writer) (*bench, error) {
	own, err := clis.Root(ctx)
	if err != nil {
		return nil, err
	}
	root := own
	if opts.root != "" {
		if root, err = filepath.Abs(opts.root); err != nil {
			return nil, err
		}
	}
	b := &bench{options: opts, folder: folder, config: filepath.Join(folder, "cli.tfrc")}
	if b.cli, err = clis.One(ctx, out); err != nil {
		return nil, err
	}
	if err := b.build(ctx, own, root); err != nil {
		return nil, err
	}
	launcher := filepath.Join(folder, "launcher", launcherName)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Mkdir(filepath.Dir(launcher), folderMode), os.Symlink(self, launcher)); err != nil {
		return nil, err
	}
	config := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"gpurent/gpurent\" = %q\n  }\n}\n",
		filepath.Dir(launcher))
	return b, os.WriteFile(b.config, []byte(config), fileMode)
}

// build builds the provider in root. The sources of the controls are this module's, so that a checkout without them can
// be measured.
func (b *bench) build(ctx context.Context, own, root string) error {
	if err := clis.Build(ctx, root, ".", filepath.Join(b.folder, programProvider), releaseFlags...); err != nil {
		return err
	}
	for _, name := range []string{programControl, programEmpty} {
		source := filepath.Join("internal", "bench", name, "main.go")
		overlay, err := json.Marshal(map[string]any{
			"Replace": map[string]string{filepath.Join(root, source): filepath.Join(own, source)},
		})
		if err != nil {
			return err
		}
		file := filepath.Join(b.folder, name+".json")
		if err := os.WriteFile(file, overlay, fileMode); err != nil {
			return err
		}
		flags := append(slices.Clone(releaseFlags), "-overlay="+file)
		if err := clis.Build(ctx, root, "./internal/bench/"+name, filepath.Join(b.folder, name), flags...); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) measureAll(ctx context.Context, out io.Writer) ([]row, error) {
	var rows []row
	for _, s := range scenarios {
		if !b.only.MatchString(s.name) {
			continue
		}
		r, err := b.measure(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		rows = append(rows, r)
		if _, err := fmt.Fprintln(out, r); err != nil {
			return nil, err
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("-only matches no scenario")
	}
	return rows, nil
}

// measure alternates between the two sides, so that other work on the machine slows both down.
func (b *bench) measure(ctx context.Context, s scenario) (_ row, err error) {
	var samples [2][]sample
	workspaces := map[bool]*workspace{} // the two sides share one, unless one of them has a fleet
	defer func() {
		for _, w := range workspaces {
			err = errors.Join(err, w.close())
		}
	}()
	for range b.repeat {
		for i, side := range s.sides() {
			w := workspaces[side.fleet]
			if w == nil || !s.created {
				if err := w.close(); err != nil {
					return row{}, err
				}
				if w, err = b.workspace(ctx, s, side.fleet); err != nil {
					return row{}, err
				}
				workspaces[side.fleet] = w
			}
			taken, err := w.run(ctx, side.program, s.command...)
			if err != nil {
				return row{}, fmt.Errorf("with the %s: %w", side.program, err)
			}
			samples[i] = append(samples[i], taken)
		}
	}
	return row{s, best(samples[0]), best(samples[1])}, nil
}

// workspace is a folder with a configuration, and the simulator that it uses.
type workspace struct {
	*bench
	folder  string
	service *simulator.Server
}

// workspace prepares a scenario: it creates the servers if they exist before the command.
func (b *bench) workspace(ctx context.Context, s scenario, fleet bool) (*workspace, error) {
	folder, err := os.MkdirTemp(b.folder, "workspace-")
	if err != nil {
		return nil, err
	}
	service, err := startService(ctx, s)
	if err != nil {
		return nil, err
	}
	w := &workspace{b, folder, service}
	if err := w.prepare(ctx, s, fleet); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *workspace) prepare(ctx context.Context, s scenario, fleet bool) error {
	settings := pollInterval + "\n  " + s.settings
	if s.limited {
		settings = limitedPollInterval
	}
	if fleet {
		err := w.configure(fleetConfig(settings, s.servers))
		if err == nil && s.created {
			_, err = w.run(ctx, programProvider, applyCommand...)
		}
		return err
	}
	ids, err := offers(ctx, w.service, s.servers)
	if err != nil {
		return err
	}
	if s.created {
		return w.seed(ctx, settings, ids)
	}
	return w.configure(serversConfig(settings, serverName, ids))
}

// configure writes the configuration.
func (w *workspace) configure(config string) error {
	const source = "terraform {\n  required_providers {\n    gpurent = { source = \"gpurent/gpurent\" }\n  }\n}\n"
	return os.WriteFile(filepath.Join(w.folder, "main.tf"), []byte(source+config), fileMode)
}

// run runs the CLI with one of the programs as the provider.
func (w *workspace) run(ctx context.Context, program string, command ...string) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	w.service.ClearRequests()
	usage := filepath.Join(w.folder, "usage")
	if err := os.RemoveAll(usage); err != nil { //nolint:gosec // a file in the temporary folder of this run
		return sample{}, err
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, w.cli.Path, command...) //nolint:gosec // a CLI that clis found
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.folder, &output, &output
	cmd.Env = clis.Environ(
		"TF_CLI_CONFIG_FILE="+w.config, "GPURENT_BASE_URL="+w.service.BaseURL, "GPURENT_API_KEY="+w.service.APIKey,
		programVariable+"="+filepath.Join(w.bench.folder, program), usageVariable+"="+usage,
	)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = shutdownTimeout
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%s: %w\n%s", command[0], err, &output)
	}
	s := sample{wall: time.Since(begin)}
	if command[0] == "plan" && !strings.Contains(output.String(), "No changes") {
		return sample{}, fmt.Errorf("the refresh has found changes:\n%s", &output)
	}
	requests := w.service.Requests()
	s.requests = len(requests)
	for _, r := range requests {
		if r.Status >= http.StatusBadRequest {
			return sample{}, fmt.Errorf("%s %s: HTTP %d", r.Method, r.Path, r.Status)
		}
	}
	if program != programProvider && len(requests) > 0 {
		return sample{}, fmt.Errorf("the control has sent %s %s", requests[0].Method, requests[0].Path)
	}
	var err error
	s.cpu, s.peakKB, err = readUsage(usage)
	return s, err
}

// close stops the simulator. The temporary folder is deleted at the end of the program.
func (w *workspace) close() error {
	if w == nil {
		return nil
	}
	return w.service.Close()
}
