package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// openExclusively opens a file without sharing, and closes it after 200 ms.
func openExclusively(t *testing.T, path string) {
	t.Helper()
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ, 0, nil, syscall.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	closed := time.AfterFunc(200*time.Millisecond, func() {
		if err := syscall.CloseHandle(handle); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { closed.Stop() })
}

func TestRetry_FileInUse(t *testing.T) {
	for name, operation := range map[string]func(path string) error{
		"ReadFile": func(path string) error { _, err := ReadFile(path); return err },
		"Rename":   func(path string) error { return Rename(path+".new", path) },
		"WriteNew": func(path string) error { return WriteNew(path, nil, true) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			for _, name := range []string{path, path + ".new"} {
				if err := os.WriteFile(name, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			openExclusively(t, path)
			start := time.Now()
			if err := operation(path); err != nil || time.Since(start) < 100*time.Millisecond {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		})
	}
}
