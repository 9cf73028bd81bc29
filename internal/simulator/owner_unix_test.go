//go:build !windows

package simulator_test

import (
	"errors"
	"os"
	"syscall"
)

// givenAway makes a file that belongs to another user, and that everyone can change.
func givenAway(path string) error {
	if os.Geteuid() != 0 {
		return errors.ErrUnsupported
	}
	const nobody = 65534
	return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666), os.Chown(path, nobody, nobody))
}

// isPrivate reports whether a file belongs to the user of this process and to nobody else.
func isPrivate(info os.FileInfo) bool {
	return info.Mode().Perm() == 0o600 && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}
