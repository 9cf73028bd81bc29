package simulator_test

import (
	"errors"
	"os"
)

func createForeignFile(string) error { return errors.ErrUnsupported }

// isPrivate cannot check files on Windows, which has access control lists.
func isPrivate(os.FileInfo) bool { return true }
