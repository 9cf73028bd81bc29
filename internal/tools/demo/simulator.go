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
	// readyTimeout is the time that the simulator has to print its address.
	readyTimeout = 10 * time.Second
	// stopTimeout is the time that the simulator has to stop.
	stopTimeout = 5 * time.Second
)

// simulator is a running simulator of the rental service.
type simulator struct {
	BaseURL    string `json:"base_url"`
	ControlURL string `json:"control_url"`
	APIKey     string `json:"api_key"`

	cmd *exec.Cmd
	end context.CancelCauseFunc // stops the process
	log *bytes.Buffer           // stderr; read it only after the end of the process
}

// startSimulator starts the simulator and returns when it accepts connections. The end of ctx stops it.
func startSimulator(ctx context.Context, binary string) (*simulator, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	sim := &simulator{end: cancel, log: &bytes.Buffer{}}
	sim.cmd = exec.CommandContext(ctx, binary, "simulator", "--clock", "real", "--time-scale", "60", "--boot", "8s",
		"--seed", "7", "--market", "still")
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
	// The timeout stops the simulator, which ends the read.
	timeout := time.AfterFunc(readyTimeout, func() { cancel(errors.New("timeout")) })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	timeout.Stop()
	if err == nil {
		err = json.Unmarshal(line, sim)
	}
	if err == nil && (sim.BaseURL == "" || sim.ControlURL == "" || sim.APIKey == "") {
		err = errors.New("the first line has no address or no key")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the simulator: %w", err), context.Cause(ctx), sim.stop(true))
	}
	return sim, nil
}

// stop stops the simulator. If the simulator or the demo has failed, the error contains the simulator's log.
func (s *simulator) stop(failed bool) error {
	s.end(nil)
	err := s.cmd.Wait()
	// The cancellation stops the process and is no failure.
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err == nil && !failed {
		return nil
	}
	return errors.Join(err, fmt.Errorf("the simulator's log:\n%s", s.log.Bytes()))
}
