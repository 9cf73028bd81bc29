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

// A process that is killed before the rename leaves the old file, and does not block the next Save.
func TestSave_AfterCrash(t *testing.T) {
	path := writeFile(t, content, 0o600)
	if err := os.WriteFile(path+".new", []byte(content[:50]), 0o600); err != nil {
		t.Fatal(err)
	}
	replaced := save(t, path, thisURL, "one")
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) || replaced[0].APIKey != "gpr_canary" {
		t.Errorf("Save replaced %v: %v", replaced, err)
	}
}

func TestSave_WaitsForLock(t *testing.T) {
	path := newPath(t)
	save(t, path, thisURL, "one")
	lock := flock.New(path + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Save(ctx, path, thisURL, Credential{APIKey: "two"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while the file is locked: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() {
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
	})
	save(t, path, thisURL, "three")
}

// saveEnv contains the path for a process that saves until it is killed.
const saveEnv = "GPURENT_TEST_SAVE"

// Processes that save at the same time and are killed lose no entry, and the file is valid at any moment.
func TestSave_KilledProcesses(t *testing.T) {
	if path := os.Getenv(saveEnv); path != "" {
		for n := 0; ; n++ {
			save(t, path, fmt.Sprintf("https://%d.example/api/v1", os.Getpid()), fmt.Sprint("key", n))
		}
	}
	path := newPath(t)
	save(t, path, thisURL, "one")
	for range 4 {
		var killed sync.WaitGroup
		for range 2 {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSave_KilledProcesses$")
			command.Env = append(os.Environ(), saveEnv+"="+path)
			var output strings.Builder
			command.Stdout = &output
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			killed.Go(func() {
				entry, file := fmt.Sprintf("https://%d.example/api/v1", command.Process.Pid), File{}
				for file.Key(entry) == "" {
					var err error
					if file, err = Load(path); err != nil || file.Key(thisURL) != "one" {
						t.Errorf("got %v, %v", file, err)
						break
					}
					if runtime.GOOS == "windows" {
						time.Sleep(200 * time.Millisecond) // Windows cannot replace a file that is open for reading
					}
				}
				if err := errors.Join(command.Process.Kill(), command.Wait()); err == nil || output.Len() > 0 {
					t.Errorf("the process ended before it was killed: %v %s", err, &output)
				}
			})
		}
		killed.Wait()
	}
	if file := load(t, path); len(file.Credentials) != 9 || file.Key(thisURL) != "one" {
		t.Errorf("%d entries are left, want 9", len(file.Credentials))
	}
}

// For any content, the errors of Load do not contain it, and Save changes only its own entry.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{content, content[:80], `{}`, `null`, `{"credentials":null,"x":{"y":[1]}}`,
		`{"credentials":{"":{"api_key":"secret"}}}`, `{"Current":"a","current":1}`} {
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
			if strings.TrimSuffix(strings.TrimPrefix(err.Error(), "the credentials file "+path+" "), errFormat.Error()) != "" {
				t.Fatalf("the error contains more than expected: %v", err)
			}
			return
		}
		save(t, path, thisURL, "new")
		after := load(t, path)
		if after.Current != thisURL || after.Key(thisURL) != "new" {
			t.Errorf("%q: after Save, current is %s and the key %s", content, after.Current, after.Key(thisURL))
		}
		for known, login := range before.Credentials {
			if now, ok := after.Credentials[known]; !Same(known, thisURL) && (!ok || now != login) {
				t.Errorf("%q: the entry %q was lost", content, known)
			}
		}
	})
}
