package credentials

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
)

const content = `{"current":"https://rent.example/api/v1",` +
	`"credentials":{"https://rent.example/api/v1":{"api_key":"gpr_canary","key_id":"k1"}}}`

func writeFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gpurent", "credentials.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	file, err := Load(writeFile(t, content, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if file.Current != "https://rent.example/api/v1" {
		t.Errorf("current is %q", file.Current)
	}
	for url, want := range map[string]string{
		"https://rent.example/api/v1":  "gpr_canary",
		"https://rent.example/api/v1/": "gpr_canary",
		"https://rent.example/api/v2":  "",
		"https://other.example/api/v1": "",
	} {
		if got := file.Key(url); got != want {
			t.Errorf("key for %s is %q, want %q", url, got, want)
		}
	}
}

func TestLoad_MissingFile(t *testing.T) {
	file, err := Load(filepath.Join(t.TempDir(), "none.json"))
	if err != nil || file.Current != "" || len(file.Credentials) != 0 {
		t.Errorf("got %v, %v", file, err)
	}
}

func TestLoad_Rejects(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		mode       os.FileMode
	}{
		"readable by the group":   {content, "chmod 600", 0o640},
		"readable by all":         {content, "chmod 600", 0o604},
		"writable by others":      {content, "chmod 600", 0o602},
		"invalid JSON with a key": {`{"credentials":{"u":{"api_key":"gpr_canary`, "not valid JSON", 0o600},
		"a key of another type":   {`{"credentials":{"u":{"api_key":["gpr_canary"]}}}`, "not valid JSON", 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.mode != 0o600 {
				t.Skip("Windows does not have these modes")
			}
			path := writeFile(t, test.text, 0o600)
			if err := os.Chmod(path, test.mode); err != nil {
				t.Fatal(err)
			}
			wantLoadError(t, path, test.want)
		})
	}
}

// wantLoadError fails the test unless Load returns an error that contains a text, and no key.
func wantLoadError(t *testing.T, path, want string) {
	t.Helper()
	file, err := Load(path)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want an error that contains %q", err, want)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error contains the key: %v", err)
	}
	if file.Current != "" || len(file.Credentials) > 0 {
		t.Errorf("Load returned the file: %v", file)
	}
}

func TestFile_PrintsNoKey(t *testing.T) {
	file, err := Load(writeFile(t, content, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, file); strings.Contains(text, "canary") || !strings.Contains(text, "k1") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestPath(t *testing.T) {
	folder := t.TempDir()
	testhome.Use(t, folder)
	path, err := Path()
	if want := filepath.Join(testhome.ConfigDir(folder), "gpurent", "credentials.json"); err != nil || path != want {
		t.Errorf("got %s, %v; want %s", path, err, want)
	}
}
