package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// runTimeout ends a CLI that hangs. A naive refresh of a thousand servers under
	// the limit takes eight minutes.
	runTimeout = 20 * time.Minute
	// farewell is how long an interrupted CLI may take to stop its providers.
	farewell = 5 * time.Second
	// shownOutput is how much of a failed CLI's output is shown, bytes.
	shownOutput = 2000

	fileMode   = 0o600
	folderMode = 0o700
	configFile = "main.tf"
	usageFile  = "usage.json"
)

// workspace is a folder with a configuration and a CLI to run there.
type workspace struct {
	cli    clis.CLI
	config string // of the CLI
	folder string
	world  *world
}

func (w *workspace) configure(config string) error {
	return os.WriteFile(filepath.Join(w.folder, configFile), []byte(header+config), fileMode)
}

// run is one run of the CLI with a provider that reads in the given way. An exit
// code other than 0 is no error but part of the sample. Requests are not counted.
func (w *workspace) run(ctx context.Context, reads string, args ...string) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	usage := filepath.Join(w.folder, usageFile)
	if err := os.Remove(usage); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sample{}, err
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, w.cli.Path, args...) //nolint:gosec // a CLI that clis found
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.folder, &output, &output
	cmd.Env = clis.Environ(
		"TF_CLI_CONFIG_FILE="+w.config, "GPURENT_BASE_URL="+w.world.BaseURL, "GPURENT_API_KEY="+w.world.APIKey,
		"GPURENT_BENCH_READS="+reads, "GPURENT_BENCH_USAGE="+usage,
	)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = farewell
	begin := time.Now()
	err := cmd.Run()
	s := sample{wall: time.Since(begin), output: output.String()}
	if ctx.Err() != nil {
		return s, fmt.Errorf("%s: %w", args[0], context.Cause(ctx))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		s.exit, err = exit.ExitCode(), nil
	}
	if err != nil {
		return s, err
	}
	told, err := os.ReadFile(usage)
	if err != nil {
		return s, fmt.Errorf("no provider told what it used: %w\n%s", err, tail(s.output))
	}
	return s, s.addUsage(told)
}

// must is run for what only prepares a measurement: it has to succeed.
func (w *workspace) must(ctx context.Context, args ...string) error {
	s, err := w.run(ctx, readShared, args...)
	if err == nil && s.exit != 0 {
		err = fmt.Errorf("exit code %d\n%s", s.exit, tail(s.output))
	}
	if err != nil {
		return fmt.Errorf("preparing with %s: %w", args[0], err)
	}
	return nil
}

// addUsage adds what the provider processes of a run have told, a line each.
func (s *sample) addUsage(told []byte) error {
	for line := range bytes.Lines(told) {
		var used struct {
			CPUMS  int64 `json:"cpu_ms"`
			PeakKB int64 `json:"peak_kb"`
		}
		if err := json.Unmarshal(line, &used); err != nil {
			return fmt.Errorf("usage %q: %w", line, err)
		}
		s.cpu += time.Duration(used.CPUMS) * time.Millisecond
		s.peakKB = max(s.peakKB, used.PeakKB)
	}
	return nil
}

// join adds another process of the same work, which ran at the same time.
func (s *sample) join(other sample) {
	s.wall, s.cpu = max(s.wall, other.wall), s.cpu+other.cpu
	s.peakKB = max(s.peakKB, other.peakKB)
	if other.exit > s.exit {
		s.exit, s.output = other.exit, other.output
	}
}

func tail(text string) string {
	if len(text) > shownOutput {
		text = "…" + text[len(text)-shownOutput:]
	}
	return strings.TrimSpace(text)
}

// The arguments of the CLI.

func planArgs(parallelism int) []string {
	return []string{"plan", "-input=false", "-no-color", "-detailed-exitcode", parallel(parallelism)}
}

// refreshArgs reads everything and plans nothing.
func refreshArgs(parallelism int) []string {
	return []string{"plan", "-refresh-only", "-input=false", "-no-color", parallel(parallelism)}
}

func saveArgs(parallelism int, file string, extra ...string) []string {
	return append([]string{"plan", "-input=false", "-no-color", "-out=" + file, parallel(parallelism)}, extra...)
}

func applyArgs(parallelism int, file ...string) []string {
	return append([]string{"apply", "-input=false", "-no-color", "-auto-approve", parallel(parallelism)}, file...)
}

func destroyArgs(parallelism int) []string {
	return []string{"destroy", "-input=false", "-no-color", "-auto-approve", parallel(parallelism)}
}

func parallel(n int) string { return "-parallelism=" + strconv.Itoa(n) }
