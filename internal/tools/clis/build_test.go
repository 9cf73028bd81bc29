package clis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
)

func TestBuildOnce_TwoProcessesBuildOnce(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  "module example.org/cli\n\ngo 1.26\n",
		"main.go": "package main\n\nvar number = \"dev\"\n\nfunc main() { print(number) }\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := source{name: "cli", product: "CLI", pkg: "example.org/cli", ldflags: "-s -w"}
	built := artifact{folder: folder, path: filepath.Join(t.TempDir(), "cli-v1.0.0", executable("cli")), version: "v1.0.0"}
	var progress [2]strings.Builder
	var group sync.WaitGroup
	for n := range progress {
		group.Go(func() {
			if err := s.buildOnce(t.Context(), &progress[n], built, "not on PATH"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	printed := progress[0].String() + progress[1].String()
	const message = "Building CLI v1.0.0 once, which takes a few minutes (not on PATH)"
	if strings.Count(printed, message) != 1 || !exists(built.path) {
		t.Errorf("printed %q, want one build of %s", printed, built.path)
	}
}

func TestBuildOnce_CancelledWhileAnotherProcessBuilds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cli")
	lock := flock.New(filepath.Join(filepath.Dir(path), "lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (source{}).buildOnce(ctx, &strings.Builder{}, artifact{path: path}, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancellation", err)
	}
}
