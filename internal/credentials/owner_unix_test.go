//go:build !windows

package credentials

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// replaceByLink replaces the file by a symbolic link to a file in another folder, and returns that file.
func replaceByLink(t *testing.T, path string) (file string) {
	t.Helper()
	file = writeFile(t)
	if err := errors.Join(os.Remove(path), os.Symlink(file, path)); err != nil {
		t.Fatal(err)
	}
	return file
}

// A file that others can replace determines where the provider sends the key. TestUses_Rejected tests the other
// functions.
func TestLoad_OtherUsers(t *testing.T) {
	places := map[string]func(t *testing.T, path string) string{ // functions that prepare a file, and return one of them
		"the file":          func(_ *testing.T, path string) string { return path },
		"the linked file":   replaceByLink,
		"the folder":        func(_ *testing.T, path string) string { return filepath.Dir(path) },
		"the link's target": func(t *testing.T, path string) string { return filepath.Dir(replaceByLink(t, path)) },
		"the link's folder": func(t *testing.T, path string) string { replaceByLink(t, path); return filepath.Dir(path) },
		"the target of a link to the folder": func(t *testing.T, path string) string {
			other := filepath.Dir(writeFile(t))
			if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.Symlink(other, filepath.Dir(path))); err != nil {
				t.Fatal(err)
			}
			return other
		},
	}
	mode := func(mode os.FileMode) func(string) error {
		return func(path string) error { return os.Chmod(path, mode) }
	}
	for want, change := range map[string]func(path string) error{
		"(mode 0770): run chmod": mode(0o770),
		"(mode 0707): run chmod": mode(0o707),
		"(mode 0777): run chmod": mode(0o777 | os.ModeSticky),
		"another user (id 65534, while this process has id 0)": func(path string) error {
			return os.Chown(path, 65534, 65534)
		},
	} {
		for name, place := range places {
			t.Run(name+" "+want, func(t *testing.T) {
				path := writeFile(t)
				changed := place(t, path)
				load(t, path)
				if err := change(changed); errors.Is(err, os.ErrPermission) {
					t.Skip("only root can give a file to another user; TestCheckFile_Owners compares the ids")
				} else if err != nil {
					t.Fatal(err)
				}
				if file, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || len(file.Credentials) > 0 {
					t.Errorf("got %v, %v, want an error that contains %q", file, err, want)
				}
			})
		}
	}
}

// The folder can belong to root, but not the file.
func TestCheckFile_Owners(t *testing.T) {
	path := writeFile(t)
	file, fileErr := os.Stat(path)
	folder, folderErr := os.Stat(filepath.Dir(path))
	if err := errors.Join(fileErr, folderErr); err != nil {
		t.Fatal(err)
	}
	me := os.Geteuid()
	if err := errors.Join(checkFile(path, file, me), checkFolder(path, folder, me)); err != nil {
		t.Errorf("checked for their user: %v", err)
	}
	fileErr, folderErr = checkFile(path, file, me+1), checkFolder(path, folder, me+1)
	if fileErr == nil || (folderErr == nil) != (me == 0) {
		t.Errorf("a file of user %d is checked for %d: %v, %v", me, me+1, fileErr, folderErr)
	}
}

func TestLoad_NamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "not a file with API keys") {
		t.Error(err)
	}
}
