package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

// The CLI starts this program under the provider's name, and this program starts the one to measure. The provider
// therefore needs no code for measurements, and any checkout can be measured.
const (
	launcherName = "terraform-provider-gpurent"
	// programVariable contains the path of the program to measure, and usageVariable that of the file for its usage.
	programVariable = "BENCH_PROGRAM"
	usageVariable   = "BENCH_USAGE"
	usageMode       = 0o600
)

// launch runs the program to its end, appends a line to the usage file, and returns the exit code.
func launch() int {
	signal.Ignore(os.Interrupt)                                     // The CLI stops the provider with the plugin protocol.
	cmd := exec.Command(os.Getenv(programVariable), os.Args[1:]...) //nolint:gosec,noctx // bench names it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState != nil {
		err = errors.Join(err, appendUsage(os.Getenv(usageVariable), cmd.ProcessState))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func appendUsage(name string, state *os.ProcessState) (err error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, usageMode) //nolint:gosec // bench names it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = fmt.Fprintln(file, int64(state.UserTime()+state.SystemTime()), peakMemory(state))
	return err
}

// readUsage returns the CPU time of all programs in the usage file, and the peak memory of the largest, in kB.
func readUsage(name string) (cpu time.Duration, peakKB int64, err error) {
	file, err := os.Open(name) //nolint:gosec // bench names it
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for {
		var used time.Duration
		var peak int64
		if _, err := fmt.Fscanln(file, &used, &peak); err != nil {
			break
		}
		cpu, peakKB = cpu+used, max(peakKB, peak)
	}
	if peakKB == 0 {
		return 0, 0, errors.New("the provider did not run, or this system does not return its memory")
	}
	return cpu, peakKB, nil
}
