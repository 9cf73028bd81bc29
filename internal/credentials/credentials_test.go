package credentials

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

const content = `{"current":" https://rent.example/api/v1",` +
	`"credentials":{"https://rent.example/api/v1":{"api_key":" gpr_canary\n","key_id":"k1"}}}`

// writeFile writes a file with one login, and returns its path.
func writeFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gpurent", "credentials.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	file := load(t, writeFile(t))
	if file.Current != thisURL || file.Key(thisURL) != "gpr_canary" {
		t.Errorf("current is %q, and the key %q; want them without white space", file.Current, file.Key(thisURL))
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, file); strings.Contains(text, "canary") || !strings.Contains(text, "k1") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	if file := load(t, filepath.Join(t.TempDir(), "none.json")); file.Current != "" || len(file.Credentials) != 0 {
		t.Errorf("a missing file is %v", file)
	}
}

func TestFind(t *testing.T) {
	file := File{Credentials: map[string]Credential{
		"https://Rent.example/api/v1/": {APIKey: "slash"}, "https://rent.example/api/v2": {APIKey: "exact"},
		"https://rent.example/api/v2/": {APIKey: "other"},
	}}
	for address, want := range map[string]string{
		"https://rent.EXAMPLE/api/v1": "slash", "https://rent.example/api/v2": "exact", "https://rent.example/API/v1": "",
		"http://rent.example/api/v1": "", "": "", "%": "",
	} {
		if got := file.Key(address); got != want {
			t.Errorf("%q: key %q, want %q", address, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	folder := t.TempDir()
	testenv.SetHome(t, folder)
	path, err := Path()
	if want := filepath.Join(testenv.ConfigDir(folder), "gpurent", "credentials.json"); err != nil || path != want {
		t.Errorf("got %s, %v; want %s", path, err, want)
	}
}
