//go:build !windows

package simulator_test

import (
	"errors"
	"os"
	"syscall"
)

// createForeignFile creates a file of another user that everyone can write.
func createForeignFile(path string) error {
	if os.Geteuid() != 0 {
		return errors.ErrUnsupported
	}
	const nobody = 65534
	return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666), os.Chown(path, nobody, nobody))
}

// isPrivate reports whether only the user of this process can use a file.
func isPrivate(info os.FileInfo) bool {
	return info.Mode().Perm() == 0o600 && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}
