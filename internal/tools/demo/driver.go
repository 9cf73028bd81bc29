package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// pollInterval is short because servers of the simulator boot in less than a second.
	pollInterval = "200ms"
	// stepTimeout ends a CLI that hangs. A step takes a few seconds.
	stepTimeout = 2 * time.Minute
	// shutdownTimeout is the time that an interrupted CLI has to stop its providers.
	shutdownTimeout = 5 * time.Second
	// changesPlanned is the exit code of plan -detailed-exitcode for a plan with changes.
	changesPlanned = 2
)

// driver runs the CLI with the built provider in a working folder.
type driver struct {
	path, folder string
	env          []string
}

// newDriver returns a driver that uses the simulator.
func newDriver(cli clis.CLI, provider clis.Installed, work string, sim *simulator) *driver {
	return &driver{path: cli.Path, folder: work, env: clis.Environ(
		"TF_CLI_CONFIG_FILE="+provider.Config,
		"TF_VAR_poll_interval="+pollInterval,
		"GPURENT_BASE_URL="+sim.BaseURL,
		"GPURENT_API_KEY="+sim.APIKey,
	)}
}

// plan returns the summary of a plan.
func (d *driver) plan(ctx context.Context) (string, error) {
	output, err := d.run(ctx, "plan", "-input=false", "-no-color")
	if err != nil {
		return "", err
	}
	return summary(output)
}

// planUnchanged fails if a plan has changes.
func (d *driver) planUnchanged(ctx context.Context) (string, error) {
	output, err := d.run(ctx, "plan", "-input=false", "-no-color", "-detailed-exitcode")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == changesPlanned {
		return "", fmt.Errorf("the second plan has changes:\n%s", output)
	}
	if err != nil {
		return "", err
	}
	return summary(output)
}

// apply plans and applies, and returns the summary.
func (d *driver) apply(ctx context.Context, variables ...string) (string, error) {
	output, err := d.run(ctx, append([]string{"apply", "-input=false", "-no-color", "-auto-approve"}, variables...)...)
	if err != nil {
		return "", err
	}
	return summary(output)
}

func (d *driver) destroy(ctx context.Context) (string, error) {
	output, err := d.run(ctx, "destroy", "-input=false", "-no-color", "-auto-approve")
	if err != nil {
		return "", err
	}
	return summary(output)
}

// server is one entry of the example's output "servers".
type server struct {
	Status    string  `json:"status"`
	GPU       string  `json:"gpu"`
	Country   *string `json:"country"` // nil if unknown
	PriceKopH int64   `json:"price_kop_h"`
	SSH       *string `json:"ssh"` // nil while it is stopped
}

// servers reads the example's output "servers".
func (d *driver) servers(ctx context.Context) (map[string]server, error) {
	output, err := d.run(ctx, "output", "-no-color", "-json", "servers")
	if err != nil {
		return nil, err
	}
	var servers map[string]server
	if err := json.Unmarshal([]byte(output), &servers); err != nil {
		return nil, fmt.Errorf("output servers: %w in %s", err, output)
	}
	return servers, nil
}

// run runs the CLI and returns its stdout. An error contains stdout and stderr.
func (d *driver) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, d.path, args...) //nolint:gosec // the path is from package clis
	cmd.Dir, cmd.Env = d.folder, d.env
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = shutdownTimeout
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String(), nil
}

// summaries matches the lines that summarize a plan or an apply.
var summaries = regexp.MustCompile(`(?m)^(Plan: .*|No changes\..*|Apply complete! .*|Destroy complete! .*)$`)

// summary returns the last summary line of the CLI's output.
func summary(output string) (string, error) {
	found := summaries.FindAllString(output, -1)
	if len(found) == 0 {
		return "", fmt.Errorf("no summary in the output of the CLI:\n%s", output)
	}
	return found[len(found)-1], nil
}
