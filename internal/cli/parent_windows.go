package cli

import "os"

// parentGone returns what is closed when the process that started this one has ended.
// On Windows any process may wait for that.
func parentGone() <-chan struct{} {
	parent, err := os.FindProcess(os.Getppid())
	if err != nil {
		return nil // it may not be looked at: then it is never seen to end
	}
	gone := make(chan struct{})
	go func() {
		if _, err := parent.Wait(); err == nil {
			close(gone)
		}
	}()
	return gone
}
