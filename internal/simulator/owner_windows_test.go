package simulator_test

import (
	"errors"
	"os"
)

func givenAway(string) error { return errors.ErrUnsupported }

// isPrivate cannot tell on Windows, which has access control lists in place of owners and modes.
func isPrivate(os.FileInfo) bool { return true }
