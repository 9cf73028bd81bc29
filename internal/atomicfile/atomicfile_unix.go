//go:build !windows

package atomicfile

import "syscall"

// openFlags keep Open from waiting for the other end of a named pipe, and from making a terminal the controlling one.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

func inUse(error) bool { return false }
