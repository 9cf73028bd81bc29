package credentials

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

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
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
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
	var killed sync.WaitGroup
	for range 5 {
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
	if file := load(t, path); len(file.Credentials) != 6 || file.Key(thisURL) != "one" {
		t.Errorf("%d entries are left, want 6", len(file.Credentials))
	}
}
