//go:build unix

package main

import (
	"os"
	"syscall"
)

// peakMemory returns the peak resident memory of a process that has ended, in kB on Linux.
func peakMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return int64(usage.Maxrss) //nolint:unconvert // 32 bits on some platforms
	}
	return 0
}
