package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	here  = "https://rent.example/api/v1"
	there = "https://other.example/api/v1"
)

// place is where the file is going to be, in a folder that is not there yet.
func place(t *testing.T) string {
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
	path := place(t)
	if replaced := save(t, path, here, "one"); len(replaced) > 0 {
		t.Errorf("the first login replaces %v", replaced)
	}
	save(t, path, there, "two")
	if replaced := save(t, path, here+"/", "three"); len(replaced) != 1 || replaced[0].APIKey != "one" || replaced[0].KeyID != "id-of-one" {
		t.Errorf("the second login replaces %v, want the first", replaced)
	}
	file := load(t, path)
	if file.Current != here+"/" || len(file.Credentials) != 2 || file.Key(here) != "three" || file.Key(there) != "two" {
		t.Errorf("current %s, %v", file.Current, file)
	}

	if err := Forget(t.Context(), path, here, Credential{APIKey: "one"}); err != nil || load(t, path).Key(here) != "three" {
		t.Errorf("a login that was replaced takes the new one with it: %v", err)
	}
	if err := Forget(t.Context(), path, there, Credential{APIKey: "two"}); err != nil || load(t, path).Current != here+"/" {
		t.Errorf("a login that is not current takes current with it: %v", err)
	}
	if err := Forget(t.Context(), path, here, Credential{APIKey: "three"}); err != nil {
		t.Error(err)
	}
	if file := load(t, path); file.Current != "" || len(file.Credentials) > 0 {
		t.Errorf("after all logouts the file holds %v", file)
	}
}

func TestFindComparesAddresses(t *testing.T) {
	file := File{Credentials: map[string]Credential{
		"https://Rent.example/api/v1/": {APIKey: "slash"}, "https://rent.example/api/v2": {APIKey: "exact"}, "https://rent.example/api/v2/": {APIKey: "other"},
	}}
	for address, want := range map[string]string{
		"https://rent.EXAMPLE/api/v1": "slash", "https://rent.example/api/v2": "exact", "https://rent.example/API/v1": "", "http://rent.example/api/v1": "", "": "", "%": "",
	} {
		if got := file.Key(address); got != want {
			t.Errorf("%q: key %q, want %q", address, got, want)
		}
	}
}

func TestTheFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	path := place(t)
	save(t, path, here, "one")
	for name, want := range map[string]fs.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", name, info.Mode(), want)
		}
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 2 {
		t.Errorf("beside the file and its lock there is something: %v, %v", left, err)
	}
}

// What another version keeps in the file stays, but for what it knew of a login that is replaced.
func TestUnknownFieldsAreKept(t *testing.T) {
	path := write(t, `{"telemetry":{"off":true,"n":12345678901234567890},"current":"`+there+`","credentials":{
		"`+here+`":{"api_key":"old","expires_at":"soon"},"`+there+`":{"api_key":"two","refresh":["a",1.50]}}}`, 0o600)
	save(t, path, here, "new")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, content); err != nil {
		t.Fatal(err)
	}
	want := `{"credentials":{"` + there + `":{"api_key":"two","refresh":["a",1.50]},"` + here + `":{"api_key":"new","key_id":"id-of-new"}},` +
		`"current":"` + here + `","telemetry":{"off":true,"n":12345678901234567890}}`
	if got.String() != want {
		t.Errorf("the file holds\n%s, want\n%s", &got, want)
	}
}

// link makes a symbolic link. It skips the test on a Windows machine that makes none.
func link(t *testing.T, target, path string) error {
	t.Helper()
	err := os.Symlink(target, path)
	if runtime.GOOS != "windows" {
		return err
	}
	if _, linkErr := os.Readlink(path); err != nil || linkErr != nil {
		t.Skipf("Windows lets only administrators and developers make symbolic links: %v, %v", err, linkErr)
	}
	return nil
}

// Every way of changing the file, by its name.
var changes = map[string]func(ctx context.Context, path string) error{
	"Check": Check,
	"Forget": func(ctx context.Context, path string) error {
		return Forget(ctx, path, here, Credential{APIKey: "one"})
	},
	"Save": func(ctx context.Context, path string) error {
		_, err := Save(ctx, path, here, Credential{APIKey: "gpr_canary"})
		return err
	},
}

// What is not understood, or not safe, is refused and stays as it is.
func TestChangesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, path string) error
		want string
	}{
		"half-written":                    {func(t *testing.T, path string) error { return os.WriteFile(path, []byte(content[:80]), 0o600) }, "not valid JSON"},
		"empty":                           {func(t *testing.T, path string) error { return os.WriteFile(path, nil, 0o600) }, "not valid JSON"},
		"foreign":                         {func(t *testing.T, path string) error { return os.WriteFile(path, []byte(`["canary"]`), 0o600) }, "not valid JSON"},
		"null":                            {func(t *testing.T, path string) error { return os.WriteFile(path, []byte(`null`), 0o600) }, "not valid JSON"},
		"far too large":                   {func(t *testing.T, path string) error { return os.WriteFile(path, make([]byte, largest+1), 0o600) }, "not a file of keys"},
		"a folder":                        {func(t *testing.T, path string) error { return os.Mkdir(path, 0o700) }, "not a file of keys"},
		"readable by others":              {func(t *testing.T, path string) error { return os.WriteFile(path, []byte(content), 0o644) }, "chmod 600"},
		"a link to nothing":               {func(t *testing.T, path string) error { return link(t, "nothing.json", path) }, "leads nowhere"},
		"a folder that others may change": {func(t *testing.T, path string) error { return os.Chmod(filepath.Dir(path), 0o770) }, "chmod go-w"},
		"a place that cannot be written":  {func(t *testing.T, path string) error { return os.MkdirAll(path+".new/in-the-way", 0o700) }, "writing the credentials file"},
		"a lock that cannot be had":       {func(t *testing.T, path string) error { return os.Mkdir(path+".lock", 0o700) }, "locking"},
		"a file in the folder's place": {func(t *testing.T, path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		}, "folder"},
	} {
		for change, do := range changes {
			t.Run(name+"/"+change, func(t *testing.T) {
				if runtime.GOOS == "windows" && strings.Contains(test.want, "chmod") {
					t.Skip("Windows has no such modes")
				}
				path := place(t)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), test.make(t, path)); err != nil {
					t.Fatal(err)
				}
				before := picture(t, path)
				err := do(t.Context(), path)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "canary") {
					t.Errorf("got %v, want an error that says %q", err, test.want)
				}
				if after := picture(t, path); after != before {
					t.Errorf("it was %s, and is %s", before, after)
				}
			})
		}
	}
}

// picture is what is at a path.
func picture(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	content, err := os.ReadFile(path)
	return fmt.Sprint(info.Mode(), info.ModTime(), string(content), err)
}

func TestCheckChangesNothing(t *testing.T) {
	path := place(t)
	if err := Check(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check makes the file: %v", err)
	}
	save(t, path, here, "one")
	before := picture(t, path)
	if err := Check(t.Context(), path); err != nil || picture(t, path) != before {
		t.Errorf("Check changes the file: %v", err)
	}
}

// A file that is kept elsewhere, by a link, stays there.
func TestALinkStaysALink(t *testing.T) {
	elsewhere := write(t, content, 0o600)
	path := place(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), link(t, elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	save(t, path, there, "two")
	if target, err := os.Readlink(path); err != nil || target != elsewhere {
		t.Errorf("the link leads to %s, %v", target, err)
	}
	if file := load(t, elsewhere); file.Key(there) != "two" || file.Key(here) != "gpr_canary" {
		t.Errorf("where the link leads: %v", file)
	}
}
