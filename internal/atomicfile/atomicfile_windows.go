package atomicfile

import (
	"errors"
	"syscall"
)

const openFlags = 0

// errSharingViolation is ERROR_SHARING_VIOLATION, which package syscall does not define.
const errSharingViolation = syscall.Errno(32)

// inUse reports whether another process may have the file open. Windows also returns ERROR_ACCESS_DENIED for a file
// that is being deleted, and for the target of a rename.
func inUse(err error) bool {
	return errors.Is(err, errSharingViolation) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}
