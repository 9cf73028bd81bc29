package credentials

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// A process that died between writing and replacing leaves the old file, and nothing in the way of the next.
func TestACrashBeforeTheFileIsReplaced(t *testing.T) {
	path := write(t, content, 0o600)
	if err := os.WriteFile(path+".new", []byte(content[:50]), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := load(t, path).Key(here); got != "gpr_canary" {
		t.Errorf("the old key is %q", got)
	}
	save(t, path, here, "one")
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) || load(t, path).Key(here) != "one" {
		t.Errorf("after the next login: %v, %v", load(t, path), err)
	}
}

func TestALockedFileIsWaitedFor(t *testing.T) {
	path := place(t)
	save(t, path, here, "one")
	lock := flock.New(path + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Save(ctx, path, here, Credential{APIKey: "two"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is locked: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() {
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
	})
	save(t, path, here, "three")
	if got := load(t, path).Key(here); got != "three" {
		t.Errorf("the key is %q", got)
	}
}

// savers is set for a process that saves until it is killed.
const savers = "GPURENT_TEST_SAVE"

// Logins at the same time, some of which are killed, lose nobody's entry, and the file is whole at any moment.
func TestProcessesThatAreKilled(t *testing.T) {
	if path := os.Getenv(savers); path != "" {
		for n := 0; ; n++ {
			save(t, path, fmt.Sprintf("https://%d.example/api/v1", os.Getpid()), fmt.Sprint("key", n))
		}
	}
	path := place(t)
	save(t, path, here, "one")
	for range 8 {
		var killed sync.WaitGroup
		for range 2 {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessesThatAreKilled$")
			command.Env = append(os.Environ(), savers+"="+path)
			var output strings.Builder
			command.Stdout = &output
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			killed.Go(func() {
				entry, file := fmt.Sprintf("https://%d.example/api/v1", command.Process.Pid), File{}
				for deadline := time.Now().Add(time.Minute); file.Key(entry) == ""; {
					var err error
					if file, err = Load(path); err != nil || file.Key(here) != "one" || time.Now().After(deadline) {
						t.Errorf("in between: %v, %v", file, err)
						break
					}
					if runtime.GOOS == "windows" {
						time.Sleep(200 * time.Millisecond) // Windows replaces no file that is open for reading
					}
				}
				if err := errors.Join(command.Process.Kill(), command.Wait()); err == nil || output.Len() > 0 {
					t.Errorf("the process ended by itself: %v %s", err, &output)
				}
			})
		}
		killed.Wait()
	}
	if file := load(t, path); len(file.Credentials) != 17 || file.Key(here) != "one" {
		t.Errorf("%d entries are left, want 17", len(file.Credentials))
	}
}

func TestConcurrentSavesKeepAllEntries(t *testing.T) {
	path := place(t)
	var saves sync.WaitGroup
	for n := range 20 {
		saves.Go(func() {
			if _, err := Save(t.Context(), path, fmt.Sprintf("https://%d.example/api/v1", n), Credential{APIKey: fmt.Sprint("key", n)}); err != nil {
				t.Error(err)
			}
		})
	}
	saves.Wait()
	file := load(t, path)
	for n := range 20 {
		if got := file.Key(fmt.Sprintf("https://%d.example/api/v1", n)); got != fmt.Sprint("key", n) {
			t.Errorf("entry %d is %q", n, got)
		}
	}
}

// Whatever is in the file, reading it ends well, says nothing of its content, and a login changes only its own entry.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{content, content[:80], `{}`, `null`, `{"credentials":null,"x":{"y":[1]}}`, `{"credentials":{"":{"api_key":"secret"}}}`, `{"Current":"a","current":1}`} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "gpurent", "credentials.json")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := Load(path)
		if err != nil {
			if strings.TrimSuffix(strings.TrimPrefix(err.Error(), "the credentials file "+path+" "), errForm.Error()) != "" {
				t.Fatalf("the error says too much: %v", err)
			}
			return
		}
		save(t, path, here, "new")
		after := load(t, path)
		if after.Current != here || after.Key(here) != "new" {
			t.Errorf("%q: after a login current is %s and the key %s", content, after.Current, after.Key(here))
		}
		for known, login := range before.Credentials {
			if now, ok := after.Credentials[known]; !Same(known, here) && (!ok || now != login) {
				t.Errorf("%q: the entry %q was lost", content, known)
			}
		}
	})
}
