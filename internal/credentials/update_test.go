package credentials

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	thisURL  = "https://rent.example/api/v1"
	otherURL = "https://other.example/api/v1"
)

// newPath returns the path of a file whose folder does not exist.
func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "config", "gpurent", "credentials.json")
}

func load(t *testing.T, path string) File {
	t.Helper()
	file, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func save(t *testing.T, path, baseURL, key string) (replaced []Credential) {
	t.Helper()
	replaced, err := Save(t.Context(), path, baseURL, Credential{APIKey: key, KeyID: "id-of-" + key})
	if err != nil {
		t.Fatal(err)
	}
	return replaced
}

func TestSaveAndForget(t *testing.T) {
	path := newPath(t)
	forget := func(baseURL, key string) File {
		t.Helper()
		if err := Forget(t.Context(), path, baseURL, Credential{APIKey: key}); err != nil {
			t.Error(err)
		}
		return load(t, path)
	}
	first, other := save(t, path, thisURL, "one"), save(t, path, otherURL, "two")
	second := save(t, path, thisURL+"/", "three")
	want := []Credential{{APIKey: "one", KeyID: "id-of-one"}}
	if len(first) > 0 || len(other) > 0 || !slices.Equal(second, want) {
		t.Errorf("the logins replace %v, %v and %v; want only the first by the third", first, other, second)
	}
	if file := forget(thisURL, "one"); file.Key(thisURL) != "three" || file.Key(otherURL) != "two" {
		t.Errorf("after another key was forgotten: %v", file)
	}
	if file := forget(otherURL, "two"); file.Current != thisURL+"/" || len(file.Credentials) != 1 {
		t.Errorf("after the other URL was forgotten: current %s, %v", file.Current, file)
	}
	if file := forget(thisURL, "three"); file.Current != "" || len(file.Credentials) > 0 {
		t.Errorf("in the end the file contains %v", file)
	}
}

func TestSave_FileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not have these modes")
	}
	path := newPath(t)
	save(t, path, thisURL, "one")
	for name, want := range map[string]fs.FileMode{
		path: 0o600, path + ".lock": 0o600, filepath.Dir(path): fs.ModeDir | 0o700,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", name, info.Mode(), want)
		}
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 2 {
		t.Errorf("files %v, want the file and its lock; %v", left, err)
	}
}

// link creates a symbolic link. It skips the test if Windows does not allow it.
func link(t *testing.T, target, path string) error {
	t.Helper()
	err := os.Symlink(target, path)
	if runtime.GOOS != "windows" {
		return err
	}
	if _, linkErr := os.Readlink(path); err != nil || linkErr != nil {
		t.Skipf("on Windows only administrators and developers can create symbolic links: %v, %v", err, linkErr)
	}
	return nil
}

// uses contains all functions that read or change the file.
var uses = map[string]func(ctx context.Context, path string) error{
	"Load":  func(_ context.Context, path string) error { _, err := Load(path); return err },
	"Check": Check,
	"Forget": func(ctx context.Context, path string) error {
		return Forget(ctx, path, thisURL, Credential{APIKey: "one"})
	},
	"Save": func(ctx context.Context, path string) error {
		_, err := Save(ctx, path, thisURL, Credential{APIKey: "gpr_canary"})
		return err
	},
}

// An invalid or unsafe file is an error, which contains no key, and stays unchanged.
func TestUses_Rejected(t *testing.T) {
	type prepare func(t *testing.T, path string) error
	file := func(content string, mode os.FileMode) prepare {
		return func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path, []byte(content), mode), os.Chmod(path, mode)) // whatever the umask is
		}
	}
	folder := func(suffix string) prepare {
		return func(_ *testing.T, path string) error { return os.MkdirAll(path+suffix, 0o700) }
	}
	for name, test := range map[string]struct {
		prepare prepare
		want    string // a part of the error
	}{
		"incomplete":                        {file(content[:len(content)-9], 0o600), "not valid JSON"},
		"empty":                             {file("", 0o600), "not valid JSON"},
		"a key of another type":             {file(`{"credentials":{"u":{"api_key":["canary"]}}}`, 0o600), "not valid JSON"},
		"null":                              {file("null", 0o600), "not valid JSON"},
		"too large":                         {file(strings.Repeat(" ", maxSize+1), 0o600), "not a file with API keys"},
		"readable by the group":             {file(content, 0o640), "chmod 600"},
		"a folder":                          {folder(""), "not a file with API keys"},
		"a new file that cannot be written": {folder(".new/in-the-way"), "writing the credentials file"},
		"a lock that cannot be opened":      {folder(".lock"), "locking"},
		"a link to a missing file": {
			func(t *testing.T, path string) error { return link(t, "nothing.json", path) }, "missing file",
		},
		"a folder that others can write to": {
			func(_ *testing.T, path string) error { return os.Chmod(filepath.Dir(path), 0o770) }, "chmod go-w",
		},
		"a file instead of the folder": {func(_ *testing.T, path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		}, "folder"},
	} {
		for use, do := range uses {
			t.Run(name+"/"+use, func(t *testing.T) {
				if runtime.GOOS == "windows" && strings.Contains(test.want, "chmod") {
					t.Skip("Windows does not have these modes")
				}
				path := newPath(t)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), test.prepare(t, path)); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(path); err != nil && use == "Load" {
					return // a missing file is empty
				}
				before := snapshot(t, path)
				err := do(t.Context(), path)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "canary") {
					t.Errorf("got %v, want an error that contains %q", err, test.want)
				}
				if after := snapshot(t, path); after != before {
					t.Errorf("the file was %s and is %s", before, after)
				}
			})
		}
	}
}

// snapshot returns mode, time and content of a file.
func snapshot(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	content, err := os.ReadFile(path)
	return fmt.Sprint(info.Mode(), info.ModTime(), string(content), err)
}

func TestCheck_ChangesNothing(t *testing.T) {
	path := newPath(t)
	for range 2 {
		before := snapshot(t, path)
		if err := Check(t.Context(), path); err != nil || snapshot(t, path) != before {
			t.Errorf("Check changed %s to %s: %v", before, snapshot(t, path), err)
		}
		save(t, path, thisURL, "one")
	}
}

func TestSave_KeepsSymbolicLink(t *testing.T) {
	target := writeFile(t)
	path := newPath(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), link(t, target, path)); err != nil {
		t.Fatal(err)
	}
	save(t, path, otherURL, "two")
	if got, err := os.Readlink(path); err != nil || got != target {
		t.Errorf("the link points to %s, %v", got, err)
	}
	if file := load(t, target); file.Key(otherURL) != "two" || file.Key(thisURL) != "gpr_canary" {
		t.Errorf("the target contains %v", file)
	}
}
