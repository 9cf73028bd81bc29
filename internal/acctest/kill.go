//go:build linux

package acctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Only Linux tells which processes a CLI has started, and which of them are the
// provider: they have the CLI's process group, and /proc names what they run.

// goneTimeout is how long killed processes may take to disappear.
const goneTimeout = 10 * time.Second

// Run is a CLI command on its way, with all processes that it started.
type Run struct {
	t       testing.TB
	command *exec.Cmd
	binary  string
	output  bytes.Buffer
	gone    chan struct{} // closed when the command itself has ended
	err     error         // how; to be read after that
}

// Start starts a CLI command as the leader of a process group, so that it can
// be killed with or without its provider. The context bounds it.
func (w *Workspace) Start(ctx context.Context, arguments ...string) *Run {
	w.t.Helper()
	binary, err := filepath.EvalSymlinks(w.binary) // as /proc has it
	if err != nil {
		w.t.Fatal(err)
	}
	r := &Run{t: w.t, binary: binary, gone: make(chan struct{})}
	r.command = w.Command(ctx, &r.output, arguments...)
	r.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.command.Cancel = func() error { return r.signal(syscall.SIGKILL) }
	r.command.WaitDelay = goneTimeout
	// Under nohup the tests ignore SIGHUP, and a command would inherit that. What is
	// caught instead of ignored, it does not inherit.
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	err = r.command.Start()
	signal.Stop(hangUps)
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(r.gone)
		r.err = r.command.Wait()
	}()
	return r
}

// Running reports whether the command itself has not ended.
func (r *Run) Running() bool {
	select {
	case <-r.gone:
		return false
	default:
		return true
	}
}

// WaitCLI waits until the command itself has ended, whatever it leaves behind.
func (r *Run) WaitCLI() { <-r.gone }

// Wait waits until the command and every process that it started are gone. It
// returns what was printed and the exit code: -1 for a command that was killed.
func (r *Run) Wait() (output string, code int) {
	r.t.Helper()
	r.WaitCLI()
	if exit := (*exec.ExitError)(nil); r.err != nil && !errors.As(r.err, &exit) {
		r.t.Errorf("%s: %v", r.command, r.err)
	}
	if left := r.untilGone(r.members); len(left) > 0 {
		r.t.Errorf("%s: processes %v outlived it", r.command, left)
		if err := r.signal(syscall.SIGKILL); err != nil {
			r.t.Error(err)
		}
	}
	return r.output.String(), r.command.ProcessState.ExitCode()
}

// KillProvider kills every provider process of the command (kill -9), and
// returns how many there were once they are gone.
func (r *Run) KillProvider() (int, error) {
	providers, err := r.providers()
	if err != nil {
		return 0, err
	}
	for _, pid := range providers {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, fmt.Errorf("killing provider %d: %w", pid, err)
		}
	}
	if left := r.untilGone(r.providers); len(left) > 0 {
		return 0, fmt.Errorf("providers %v survived", left)
	}
	return len(providers), nil
}

// KillAll kills the command and all its processes (kill -9) at one moment, as
// when the machine dies, and returns how many providers there were.
func (r *Run) KillAll() (int, error) {
	providers, err := r.providers()
	if err == nil {
		err = r.signal(syscall.SIGKILL)
	}
	if err != nil {
		return 0, err
	}
	if left := r.untilGone(r.members); len(left) > 0 {
		return 0, fmt.Errorf("processes %v survived", left)
	}
	return len(providers), nil
}

// KillCLI kills the command alone (kill -9) and leaves its providers orphaned. It
// returns how many there are.
func (r *Run) KillCLI() (int, error) {
	providers, err := r.providers()
	if err == nil {
		err = r.command.Process.Kill()
	}
	return len(providers), err
}

// Interrupt sends SIGINT to the command and all its processes, as Ctrl-C does.
func (r *Run) Interrupt() error { return r.signal(syscall.SIGINT) }

// Terminate sends SIGTERM to the command and all its processes, as many CI
// services do when a job is cancelled.
func (r *Run) Terminate() error { return r.signal(syscall.SIGTERM) }

// HangUp sends SIGHUP to the command and all its processes, as a terminal does that is
// closed.
func (r *Run) HangUp() error { return r.signal(syscall.SIGHUP) }

func (r *Run) signal(s syscall.Signal) error { return syscall.Kill(-r.command.Process.Pid, s) }

// untilGone waits for processes to end, and returns those that did not.
func (r *Run) untilGone(list func() ([]int, error)) []int {
	for deadline := time.Now().Add(goneTimeout); ; time.Sleep(5 * time.Millisecond) {
		left, err := list()
		if err != nil {
			r.t.Error(err)
		}
		if len(left) == 0 || err != nil || time.Now().After(deadline) {
			return left
		}
	}
}

// providers are the members that run the provider's binary.
func (r *Run) providers() ([]int, error) {
	members, err := r.members()
	var found []int
	for _, pid := range members {
		// A process that has just ended has no link any more.
		if executable, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe")); err == nil && executable == r.binary {
			found = append(found, pid)
		}
	}
	return found, err
}

// members are the living processes of the command's group. What is dead and
// only not yet reaped by its parent is none.
func (r *Run) members() ([]int, error) {
	if errors.Is(r.signal(0), syscall.ESRCH) {
		return nil, nil // not even the dead; this is far quicker than to look
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, file := range stats {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		// pid (name) state parent group …; the name may hold anything.
		after := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || len(after) < 3 {
			return nil, fmt.Errorf("%s: %q is not understood", file, content)
		}
		if after[2] == strconv.Itoa(r.command.Process.Pid) && after[0] != "Z" && after[0] != "X" {
			found = append(found, pid)
		}
	}
	return found, nil
}
