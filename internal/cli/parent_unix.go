//go:build !windows

package cli

import (
	"os"
	"time"
)

// parentLook is the pause between two looks at the parent process. A look costs less
// than a microsecond.
const parentLook = 250 * time.Millisecond

// parentGone returns what is closed when the process that started this one has ended:
// another one adopts this one then.
func parentGone() <-chan struct{} {
	gone := make(chan struct{})
	parent := os.Getppid()
	go func() {
		defer close(gone)
		look := time.NewTicker(parentLook)
		defer look.Stop()
		for os.Getppid() == parent {
			<-look.C
		}
	}()
	return gone
}
