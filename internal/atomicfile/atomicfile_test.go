package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// An operation is repeated while the file is in use, but not for ever.
func TestRetry(t *testing.T) {
	busy := errors.New("busy")
	for name, test := range map[string]struct {
		err        error // while the file is in use
		used, took time.Duration
		want       error
	}{
		"in use for a second": {busy, time.Second, time.Second, nil},
		"in use for ever":     {busy, time.Hour, 2 * time.Second, busy},
		"another error":       {fs.ErrNotExist, time.Hour, 0, fs.ErrNotExist},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			err := retry(func() error {
				if time.Since(start) < test.used {
					return test.err
				}
				return nil
			}, func(err error) bool { return errors.Is(err, busy) })
			if took := time.Since(start); !errors.Is(err, test.want) || took != test.took {
				t.Errorf("%s: %v after %v", name, err, took)
			}
		})
	}
}

func TestWriteNew_ReplacesExistingFile(t *testing.T) {
	for name, before := range map[string]func(path string) error{
		"a file":            func(path string) error { return os.WriteFile(path, []byte("a longer content"), 0o644) },
		"a link to a file":  func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "other"), path) },
		"a link to nothing": func(path string) error { return os.Symlink(path+".none", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			other := filepath.Join(filepath.Dir(path), "other")
			if err := os.WriteFile(other, []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := before(path); err != nil {
				if runtime.GOOS == "windows" {
					t.Skipf("on Windows only administrators and developers can create symbolic links: %v", err)
				}
				t.Fatal(err)
			}
			if err := WriteNew(path, []byte("new"), true); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("got %v, %v, want a regular file with mode 0600", info, err)
			}
			for file, want := range map[string]string{path: "new", other: "kept"} {
				if content, err := ReadFile(file); string(content) != want || err != nil {
					t.Errorf("%s contains %q, %v", file, content, err)
				}
			}
			if _, err := os.Lstat(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the target of the link exists: %v", err)
			}
			if err := WriteNew(filepath.Dir(path), nil, false); err == nil {
				t.Error("WriteNew replaced a folder")
			}
		})
	}
}
