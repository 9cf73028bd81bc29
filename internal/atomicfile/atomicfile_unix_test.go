//go:build !windows

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Another process can create a symbolic link between removal and creation.
func TestWriteNew_FollowsNoSymlink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	target := path + ".target"
	var attacker sync.WaitGroup
	var done atomic.Bool
	attacker.Go(func() {
		for !done.Load() {
			os.Symlink(target, path) //nolint:errcheck // fails while the file exists
		}
	})
	for range 2000 {
		if err := WriteNew(path, []byte("secret"), false); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Error(err)
			break
		}
	}
	done.Store(true)
	attacker.Wait()
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteNew followed the link: %v", err)
	}
}
