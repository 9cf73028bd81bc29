package simulator_test

import (
	"errors"
	"os"
)

func givenAway(string) error { return errors.ErrUnsupported }

// isPrivate cannot check files on Windows, which has access control lists.
func isPrivate(os.FileInfo) bool { return true }
