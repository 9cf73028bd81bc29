package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

const (
	// readyTimeout is how long the simulator may take to say where it listens.
	readyTimeout = 10 * time.Second
	// stopTimeout is how long it may take to stop when asked to.
	stopTimeout = 5 * time.Second
)

// simulator is a running simulator of the rental service.
type simulator struct {
	BaseURL    string `json:"base_url"`
	ControlURL string `json:"control_url"`
	APIKey     string `json:"api_key"`

	cmd *exec.Cmd
	end context.CancelCauseFunc // asks the process to stop
	log *bytes.Buffer           // stderr; to be read only once the process has ended
}

// startSimulator returns once the simulator accepts connections. The context's
// end stops it.
func startSimulator(ctx context.Context, binary string) (*simulator, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	sim := &simulator{end: cancel, log: &bytes.Buffer{}}
	sim.cmd = exec.CommandContext(ctx, binary, "simulator", "--clock", "real", "--time-scale", "60", "--boot", "8s", "--seed", "7", "--market", "still")
	sim.cmd.Stderr = sim.log
	sim.cmd.Cancel = func() error { return sim.cmd.Process.Signal(syscall.SIGTERM) }
	sim.cmd.WaitDelay = stopTimeout
	stdout, err := sim.cmd.StdoutPipe()
	if err == nil {
		err = sim.cmd.Start()
	}
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("starting the simulator: %w", err)
	}
	// A simulator that says nothing is ended, and that ends the read.
	late := time.AfterFunc(readyTimeout, func() { cancel(errors.New("no answer in time")) })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	late.Stop()
	if err == nil {
		err = json.Unmarshal(line, sim)
	}
	if err == nil && (sim.BaseURL == "" || sim.ControlURL == "" || sim.APIKey == "") {
		err = errors.New("its first line lacks an address or the key")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the simulator: %w", err), context.Cause(ctx), sim.stop(true))
	}
	return sim, nil
}

// stop ends the simulator and fails if it did not end well. After a failure of
// the demo the error carries the simulator's log as well.
func (s *simulator) stop(failed bool) error {
	s.end(nil)
	err := s.cmd.Wait()
	// That it was told to stop is no failure; how it stopped may be one.
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err == nil && !failed {
		return nil
	}
	return errors.Join(err, fmt.Errorf("the simulator's log:\n%s", s.log.Bytes()))
}
