package cli

import "os"

// parentExit returns a channel that is closed after the parent process has ended, or nil if this process may not wait
// for it.
func parentExit() <-chan struct{} {
	parent, err := os.FindProcess(os.Getppid())
	if err != nil {
		return nil
	}
	exited := make(chan struct{})
	go func() {
		if _, err := parent.Wait(); err == nil {
			close(exited)
		}
	}()
	return exited
}
