//go:build !windows

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestOpen_DoesNotBlockOnNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := time.AfterFunc(5*time.Second, func() { panic("opening a named pipe blocks") })
	defer blocked.Stop()
	file, err := Open(path)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

func TestWriteNew_FileOfOtherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	path := filepath.Join(t.TempDir(), "file")
	const nobody = 65534
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(path, nil, false); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 || info.Mode() != 0o600 {
		t.Errorf("owner %d, mode %v; want 0 and 0600", owner, info.Mode())
	}
}

// Another process can create a symbolic link between removal and creation.
func TestWriteNew_FollowsNoSymlink(t *testing.T) {
	folder := t.TempDir()
	path, target := filepath.Join(folder, "file"), filepath.Join(folder, "target")
	done := make(chan struct{})
	var attacker sync.WaitGroup
	attacker.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				os.Symlink(target, path) //nolint:errcheck // fails while the file exists
			}
		}
	})
	for range 2000 {
		if err := WriteNew(path, []byte("secret"), false); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Error(err)
			break
		}
	}
	close(done)
	attacker.Wait()
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteNew followed the link: %v", err)
	}
}
