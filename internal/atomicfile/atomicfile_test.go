package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An operation is repeated while the file is in use, but not for ever.
func TestRetry(t *testing.T) {
	busy := errors.New("busy")
	for name, test := range map[string]struct {
		err   error // while the file is in use
		used  time.Duration
		took  time.Duration
		fails error
	}{
		"in use for a second": {busy, time.Second, time.Second, nil},
		"in use for ever":     {busy, time.Hour, 2 * time.Second, busy},
		"another error":       {fs.ErrNotExist, time.Hour, 0, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := retry(func() error {
					if time.Since(start) < test.used {
						return test.err
					}
					return nil
				}, func(err error) bool { return errors.Is(err, busy) })
				if took := time.Since(start); !errors.Is(err, test.fails) || took != test.took {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

func TestWriteNew_ReplacesExistingFile(t *testing.T) {
	for name, before := range map[string]func(path string) error{
		"a file":          func(path string) error { return os.WriteFile(path, []byte("a longer content"), 0o600) },
		"a readable file": func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"a link to a file": func(path string) error {
			return errors.Join(os.WriteFile(path+".target", []byte("kept"), 0o600), os.Symlink(path+".target", path))
		},
		"a link to nothing": func(path string) error { return os.Symlink(path+".target", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := before(path); err != nil {
				if runtime.GOOS == "windows" && strings.Contains(name, "link") {
					t.Skipf("on Windows only administrators and developers can create symbolic links: %v", err)
				}
				t.Fatal(err)
			}
			target, targetErr := os.ReadFile(path + ".target")
			if err := WriteNew(path, []byte("new"), true); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("got %v, %v, want a regular file with mode 0600", info, err)
			}
			if content, err := os.ReadFile(path); string(content) != "new" || err != nil {
				t.Errorf("content %q, %v", content, err)
			}
			after, err := os.ReadFile(path + ".target")
			if string(after) != string(target) || (err == nil) != (targetErr == nil) {
				t.Errorf("the target of the link was %q (%v) and is %q (%v)", target, targetErr, after, err)
			}
		})
	}
}

func TestWriteNew_Folder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(path, "content"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(path, nil, false); err == nil {
		t.Error("WriteNew replaced a folder")
	}
}
