//go:build !windows

package credentials

import (
	"fmt"
	"io/fs"
	"syscall"
)

const (
	// groupOtherMask contains the permissions of group and others.
	groupOtherMask = 0o077
	// groupOtherWriteMask contains the permissions of a folder that let group and others replace files in it.
	groupOtherWriteMask = 0o022
)

// ownerHint is the next step after an error about the owner, which is common in containers.
const ownerHint = "run chown on it, or set GPURENT_BASE_URL and GPURENT_API_KEY instead"

// checkFile returns an error for a file that is not private to the user with this id. That includes root: the owner of
// the file could direct the requests of a program of root to another address.
func checkFile(path string, info fs.FileInfo, user int) error {
	if owner := ownerOf(info); owner != user {
		return fmt.Errorf("the credentials file %s belongs to another user (id %d, while this process has id %d), "+
			"who can change the address and the keys in it: %s", path, owner, user, ownerHint)
	}
	if info.Mode().Perm()&groupOtherMask != 0 {
		return fmt.Errorf("the credentials file %s can be read by others (mode %04o): run chmod 600 on it, "+
			"and replace the keys in it if the machine is shared", path, info.Mode().Perm())
	}
	return nil
}

// checkFolder returns an error for a folder in which users other than this one and root can replace the file. It
// ignores the sticky bit, which a configuration folder does not need.
func checkFolder(folder string, info fs.FileInfo, user int) error {
	if owner := ownerOf(info); owner != user && owner != 0 {
		return fmt.Errorf("%s, the folder of the credentials file, belongs to another user (id %d, while this process has "+
			"id %d), who can replace the file: %s", folder, owner, user, ownerHint)
	}
	if info.Mode().Perm()&groupOtherWriteMask != 0 {
		return fmt.Errorf("others can write to %s, the folder of the credentials file (mode %04o): run chmod go-w on it",
			folder, info.Mode().Perm())
	}
	return nil
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
