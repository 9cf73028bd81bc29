//go:build unix

package bench

import (
	"os"
	"syscall"
)

// peakMemory returns the peak resident memory of the largest of a process that has ended and its children, in bytes on
// Linux.
func peakMemory(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return int64(usage.Maxrss) * 1024 //nolint:unconvert // 32 bits on some platforms
	}
	return 0
}
