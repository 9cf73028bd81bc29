//go:build linux

package acctest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// exitTimeout limits the wait until processes have ended.
const exitTimeout = time.Minute

// Run is a started CLI command with its child processes. They share a process group, and /proc shows which of them run
// the provider, so it needs Linux.
type Run struct {
	t       testing.TB
	command *exec.Cmd
	binary  string
	output  *os.File
	done    chan struct{} // closed after the command has ended
	err     error         // of the command; valid after done is closed
}

// Start starts a CLI command as the leader of a process group, so that a test can kill it with or without its provider.
// The end of ctx kills it.
func (w *Workspace) Start(ctx context.Context, arguments ...string) *Run {
	w.t.Helper()
	binary, err := filepath.EvalSymlinks(w.binary) // /proc shows the resolved path
	if err != nil {
		w.t.Fatal(err)
	}
	output, err := os.CreateTemp(w.folder, "output-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { output.Close() })
	r := &Run{t: w.t, binary: binary, output: output, done: make(chan struct{})}
	r.command = w.Command(ctx, output, arguments...)
	r.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.command.Cancel = func() error { return r.signal(syscall.SIGKILL) }
	// Under nohup, the tests ignore SIGHUP and child processes would inherit that. They do not inherit a handled signal.
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	err = r.command.Start()
	signal.Stop(hangUps)
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		r.err = r.command.Wait()
	}()
	return r
}

// Output returns what the command has written so far.
func (r *Run) Output() string {
	r.t.Helper()
	output, err := os.ReadFile(r.output.Name())
	if err != nil {
		r.t.Error(err)
	}
	return string(output)
}

// Running reports whether the command is still running. Child processes do not count.
func (r *Run) Running() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// Wait waits until the command and its child processes have ended. It returns the output and the exit code, which is -1
// for a killed command.
func (r *Run) Wait() (output string, code int) {
	r.t.Helper()
	<-r.done
	if exit := (*exec.ExitError)(nil); r.err != nil && !errors.As(r.err, &exit) {
		r.t.Errorf("%s: %v", r.command, r.err)
	}
	if left := r.waitForExit(r.members); len(left) > 0 {
		r.t.Errorf("%s: processes %v are still running", r.command, left)
		if err := r.signal(syscall.SIGKILL); err != nil {
			r.t.Error(err)
		}
	}
	return r.Output(), r.command.ProcessState.ExitCode()
}

// KillProvider kills every provider process of the command with SIGKILL, waits until they have ended, and returns their
// number.
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
	if left := r.waitForExit(r.providers); len(left) > 0 {
		return 0, fmt.Errorf("providers %v are still running", left)
	}
	return len(providers), nil
}

// KillAll kills the command and its child processes with one SIGKILL, as a crash of the machine would, and returns the
// number of providers.
func (r *Run) KillAll() (int, error) {
	providers, err := r.providers()
	if err == nil {
		err = r.signal(syscall.SIGKILL)
	}
	if err != nil {
		return 0, err
	}
	if left := r.waitForExit(r.members); len(left) > 0 {
		return 0, fmt.Errorf("processes %v are still running", left)
	}
	return len(providers), nil
}

// KillCLI kills only the command with SIGKILL. It returns the number of orphaned providers.
func (r *Run) KillCLI() (int, error) {
	providers, err := r.providers()
	if err == nil {
		err = r.command.Process.Kill()
	}
	return len(providers), err
}

// Interrupt sends SIGINT to the command and its child processes, as Ctrl-C does.
func (r *Run) Interrupt() error { return r.signal(syscall.SIGINT) }

// Terminate sends SIGTERM to the command and its child processes, as many CI services do to cancel a job.
func (r *Run) Terminate() error { return r.signal(syscall.SIGTERM) }

// HangUp sends SIGHUP to the command and its child processes, as a closed terminal does.
func (r *Run) HangUp() error { return r.signal(syscall.SIGHUP) }

func (r *Run) signal(s syscall.Signal) error { return syscall.Kill(-r.command.Process.Pid, s) }

// waitForExit waits until list returns no process. After exitTimeout, it returns the remaining processes.
func (r *Run) waitForExit(list func() ([]int, error)) []int {
	for deadline := time.Now().Add(exitTimeout); ; time.Sleep(5 * time.Millisecond) {
		left, err := list()
		if err != nil {
			r.t.Error(err)
		}
		if len(left) == 0 || err != nil || time.Now().After(deadline) {
			return left
		}
	}
}

// providers returns the processes of the group that run the provider.
func (r *Run) providers() ([]int, error) {
	return r.processes(func(executable string) bool { return executable == r.binary })
}

// members returns the processes of the group.
func (r *Run) members() ([]int, error) { return r.processes(func(string) bool { return true }) }

// processes returns the processes of the group with the executables that match. Ended ones have no executable.
func (r *Run) processes(matches func(executable string) bool) (found []int, err error) {
	if errors.Is(r.signal(0), syscall.ESRCH) {
		return nil, nil // faster than reading /proc
	}
	folders, err := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		if group, err := syscall.Getpgid(pid); err != nil || group != r.command.Process.Pid {
			continue
		}
		if executable, err := os.Readlink(folder + "/exe"); err == nil && matches(executable) {
			found = append(found, pid)
		}
	}
	return found, err
}
