//go:build !windows

package cli

import (
	"os"
	"time"
)

// parentPollInterval is the interval at which parentExit reads the parent process id. A read takes less than a
// microsecond.
const parentPollInterval = 250 * time.Millisecond

// parentExit returns a channel that is closed after the parent process has ended. The system then assigns another
// parent.
func parentExit() <-chan struct{} {
	exited := make(chan struct{})
	parent := os.Getppid()
	go func() {
		defer close(exited)
		ticker := time.NewTicker(parentPollInterval)
		defer ticker.Stop()
		for os.Getppid() == parent {
			<-ticker.C
		}
	}()
	return exited
}
