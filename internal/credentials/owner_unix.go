//go:build !windows

package credentials

import (
	"fmt"
	"io/fs"
	"syscall"
)

const (
	// othersMask are the permission bits of a file for everyone but its owner.
	othersMask = 0o077
	// writersMask are the bits of a folder with which others can replace files in it.
	writersMask = 0o022
)

// instead is what else can be done about a file or folder of another user, for example in a container.
const instead = "run chown on it, or set GPURENT_BASE_URL and GPURENT_API_KEY instead"

// checkFile refuses a file that is not private to the user with this id. Root is no exception: a file that belongs to
// another user would decide where a program of root sends its requests.
func checkFile(path string, info fs.FileInfo, user int) error {
	if owner := ownerOf(info); owner != user {
		return fmt.Errorf("the credentials file %s belongs to another user (id %d, while this process has id %d), "+
			"who can change the address and the keys in it: %s", path, owner, user, instead)
	}
	if info.Mode().Perm()&othersMask != 0 {
		return fmt.Errorf("the credentials file %s can be read by others (mode %04o): run chmod 600 on it, "+
			"and replace the keys in it if the machine is shared", path, info.Mode().Perm())
	}
	return nil
}

// checkFolder refuses a folder in which others than the user with this id, and root, can replace the file. A sticky bit
// makes no difference: no folder for one user's settings needs it.
func checkFolder(folder string, info fs.FileInfo, user int) error {
	if owner := ownerOf(info); owner != user && owner != 0 {
		return fmt.Errorf("%s, the folder of the credentials file, belongs to another user (id %d, while this process has id %d), "+
			"who can replace the file: %s", folder, owner, user, instead)
	}
	if info.Mode().Perm()&writersMask != 0 {
		return fmt.Errorf("others may change what is in %s, the folder of the credentials file (mode %04o): "+
			"run chmod go-w on it", folder, info.Mode().Perm())
	}
	return nil
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
