//go:build !windows

package credentials

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is a user id that does not run these tests.
const nobody = 65534

// replaceByLink replaces the file by a symbolic link to a file in another folder, and returns that file.
func replaceByLink(t *testing.T, path string) (file string) {
	t.Helper()
	file = writeFile(t, content, 0o600)
	if err := errors.Join(os.Remove(path), os.Symlink(file, path)); err != nil {
		t.Fatal(err)
	}
	return file
}

// places are what determines which file is used: functions that prepare a file at path, and return one of them.
var places = map[string]func(t *testing.T, path string) string{
	"the folder":        func(_ *testing.T, path string) string { return filepath.Dir(path) },
	"the link's target": func(t *testing.T, path string) string { return filepath.Dir(replaceByLink(t, path)) },
	"the link's folder": func(t *testing.T, path string) string { replaceByLink(t, path); return filepath.Dir(path) },
	"the target of a link to the folder": func(t *testing.T, path string) string {
		other := filepath.Dir(writeFile(t, content, 0o600))
		if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.Symlink(other, filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		return other
	},
}

// A file that others can replace determines where the provider sends the key. TestUses_Rejected tests the other
// functions.
func TestFolders_OthersCanReplaceTheFile(t *testing.T) {
	for name, place := range places {
		for _, mode := range []os.FileMode{0o770, 0o707, 0o777 | os.ModeSticky} {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				path := writeFile(t, content, 0o600)
				folder := place(t, path)
				load(t, path) // works without that mode
				if err := os.Chmod(folder, mode); err != nil {
					t.Fatal(err)
				}
				wantLoadError(t, path, "others can write to "+folder+", the folder of the credentials file")
			})
		}
	}
}

func TestLoad_AnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user; TestCheckFile_Owners compares the ids")
	}
	owned := maps.Clone(places)
	owned["the file"] = func(_ *testing.T, path string) string { return path }
	owned["the linked file"] = replaceByLink
	for name, place := range owned {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, content, 0o600)
			if err := os.Chown(place(t, path), nobody, nobody); err != nil {
				t.Fatal(err)
			}
			wantLoadError(t, path, "another user (id 65534, while this process has id 0)")
		})
	}
}

// The folder can belong to root, but not the file.
func TestCheckFile_Owners(t *testing.T) {
	path := writeFile(t, content, 0o600)
	file, fileErr := os.Stat(path)
	folder, folderErr := os.Stat(filepath.Dir(path))
	if err := errors.Join(fileErr, folderErr); err != nil {
		t.Fatal(err)
	}
	me := os.Geteuid()
	if err := errors.Join(checkFile(path, file, me), checkFolder(path, folder, me)); err != nil {
		t.Errorf("checked for their user: %v", err)
	}
	if checkFile(path, file, me+1) == nil || (checkFolder(path, folder, me+1) == nil) != (me == 0) {
		t.Errorf("a file of user %d is checked for %d: %v, %v", me, me+1, checkFile(path, file, me+1),
			checkFolder(path, folder, me+1))
	}
}

func TestLoad_NamedPipe(t *testing.T) {
	path := newPath(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	wantLoadError(t, path, "not a file with API keys")
}
