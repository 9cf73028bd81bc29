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
	// pollInterval suits a simulator whose servers boot in a moment.
	pollInterval = "200ms"
	// stepTimeout ends a CLI that hangs. A step takes some seconds.
	stepTimeout = 2 * time.Minute
	// farewell is how long an interrupted CLI may take to stop its providers.
	farewell = 5 * time.Second
	// changesPlanned is what plan -detailed-exitcode returns besides success (0) and failure (1).
	changesPlanned = 2
)

// driver runs the CLI in a working folder with the provider just built.
type driver struct {
	path, folder string
	env          []string
}

// newDriver is a driver for the working folder, against the simulator.
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

// planNothing fails unless a plan finds nothing to do.
func (d *driver) planNothing(ctx context.Context) (string, error) {
	output, err := d.run(ctx, "plan", "-input=false", "-no-color", "-detailed-exitcode")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == changesPlanned {
		return "", fmt.Errorf("a second plan finds something to do:\n%s", output)
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
	Country   *string `json:"country"` // nil when the service does not say
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

// run returns what the CLI printed on stdout; an error shows all it printed.
func (d *driver) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, d.path, args...) //nolint:gosec // a CLI that clis found
	cmd.Dir, cmd.Env = d.folder, d.env
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = farewell
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String(), nil
}

// summaries are the lines in which the CLIs say what they are about to do or did.
var summaries = regexp.MustCompile(`(?m)^(Plan: .*|No changes\..*|Apply complete! .*|Destroy complete! .*)$`)

// summary is the last such line of the CLI's output.
func summary(output string) (string, error) {
	found := summaries.FindAllString(output, -1)
	if len(found) == 0 {
		return "", fmt.Errorf("no summary in the CLI's output:\n%s", output)
	}
	return found[len(found)-1], nil
}
