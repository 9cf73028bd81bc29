//go:build !windows

package credentials

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
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

// Load and Save reject a file that others can replace, because it determines where the provider sends the key.
func TestFolders_OthersCanReplaceTheFile(t *testing.T) {
	for name, place := range places {
		for _, mode := range []os.FileMode{0o770, 0o707, 0o777 | os.ModeSticky} {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				path := writeFile(t, content, 0o600)
				folder := place(t, path)
				save(t, path, thisURL, "gpr_canary") // works without that mode
				if err := os.Chmod(folder, mode); err != nil {
					t.Fatal(err)
				}
				wantLoadError(t, path, folder+", the folder of the credentials file")
				wantLoadError(t, path, "chmod go-w")
				if _, err := Save(t.Context(), path, thisURL, Credential{}); err == nil ||
					!strings.Contains(err.Error(), "chmod go-w") {
					t.Errorf("Save: %v", err)
				}
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
			wantLoadError(t, path, "chown")
			wantLoadError(t, path, "GPURENT_BASE_URL and GPURENT_API_KEY")
		})
	}
}

func TestCheckFile_Owners(t *testing.T) {
	path := writeFile(t, content, 0o600)
	for name, check := range map[string]func(user int) error{
		"file": func(user int) error {
			info, err := os.Stat(path)
			return errors.Join(err, checkFile(path, info, user))
		},
		"folder": func(user int) error {
			info, err := os.Stat(filepath.Dir(path))
			return errors.Join(err, checkFolder(filepath.Dir(path), info, user))
		},
	} {
		me := os.Geteuid()
		if err := check(me); err != nil {
			t.Errorf("%s of the user: %v", name, err)
		}
		// The folder can belong to root, but not the file.
		err := check(me + 1)
		if want := me != 0 || name == "file"; (err != nil) != want {
			t.Errorf("%s of user %d, checked for %d: %v", name, me, me+1, err)
		}
	}
}

func TestLoad_NamedPipe(t *testing.T) {
	path := newPath(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	wantLoadError(t, path, "not a file with API keys")
}
