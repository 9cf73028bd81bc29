package clis

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// machine has scripts in place of the CLIs, by their versions; "" means that there is none.
type machine struct{ terraform, tofu, builtTerraform, builtTofu string }

// use gives the test this machine's PATH and cache folder.
func (m machine) use(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the CLIs of this test are shell scripts")
	}
	folder, home := t.TempDir(), t.TempDir()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	// With another home folder, a process of its telemetry would still write there when the test removes it.
	wrapper := fmt.Sprintf("#!/bin/sh\nHOME=%q exec %q \"$@\"\n", os.Getenv("HOME"), goTool)
	if err := os.WriteFile(filepath.Join(folder, "go"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for n, numbers := range [][2]string{{m.terraform, m.builtTerraform}, {m.tofu, m.builtTofu}} {
		p := products[n]
		required, err := p.required(filepath.Join("..", p.name, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		writeCLI(t, filepath.Join(folder, p.name), numbers[0])
		writeCLI(t, filepath.Join(cache, "terraform-provider-gpurent", p.name+"-"+required, p.name), numbers[1])
	}
}

func writeCLI(t *testing.T, path, number string) {
	t.Helper()
	if number == "" {
		return
	}
	script := "#!/bin/sh\n" + `echo '{"terraform_version":"` + number + `"}'` + "\n"
	if number == "broken" {
		script = "#!/bin/sh\nexit 1\n"
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		machine machine
		want    map[string]string // the versions of each selection
	}{
		"both are new": {machine{terraform: "1.14.0-rc1", tofu: "1.12.6"}, map[string]string{
			"one": "terraform 1.14.0-rc1", "all": "terraform 1.14.0-rc1, tofu 1.12.6", "tofu": "tofu 1.12.6",
		}},
		"Terraform does not support all tests": {machine{terraform: "1.11.4", tofu: "1.12.6", builtTerraform: "1.15.9"},
			map[string]string{
				"one": "terraform 1.11.4", "terraform": "terraform 1.11.4", "all": "terraform 1.15.9, tofu 1.12.6",
			}},
		"only OpenTofu": {machine{tofu: "1.12.6", builtTerraform: "1.15.9"}, map[string]string{
			"one": "tofu 1.12.6", "terraform": "terraform 1.15.9",
		}},
		"neither is supported": {machine{terraform: "1.8.5", tofu: "1.8.0", builtTerraform: "1.15.9", builtTofu: "1.12.6"},
			map[string]string{
				"one": "terraform 1.15.9", "all": "terraform 1.15.9, tofu 1.12.6",
				"terraform": "terraform 1.8.5", "tofu": "tofu 1.8.0", // the named CLI, as in a matrix of versions
			}},
		"none is on PATH": {machine{builtTerraform: "1.15.9", builtTofu: "1.12.6"}, map[string]string{
			"one": "terraform 1.15.9", "tofu": "tofu 1.12.6",
		}},
		// A CLI that does not start is an error, not a reason to use another one.
		"broken": {machine{terraform: "broken", tofu: "1.12.6", builtTerraform: "1.15.9"}, map[string]string{
			"one": "error", "all": "error", "terraform": "error", "opentofu": "error",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			test.machine.use(t)
			for selection, want := range test.want {
				found, err := Find(t.Context(), selection, io.Discard)
				var versions []string
				for _, cli := range found {
					versions = append(versions, cli.Name+" "+cli.Version)
				}
				if err != nil {
					versions = []string{"error"}
				}
				if got := strings.Join(versions, ", "); got != want {
					t.Errorf("%s: %s (%v), want %s", selection, got, err, want)
				}
			}
		})
	}
}

func TestEnviron_RemovesSettingsOfDeveloper(t *testing.T) {
	t.Setenv("TF_CLI_CONFIG_FILE", "/missing")
	t.Setenv("GPURENT_API_KEY", "secret")
	t.Setenv("TFOO", "kept")
	got := Environ("GPURENT_BASE_URL=http://127.0.0.1:1/api/v1")
	for variable, want := range map[string]bool{
		"TF_CLI_CONFIG_FILE=/missing": false, "GPURENT_API_KEY=secret": false, "TFOO=kept": true,
		"CHECKPOINT_DISABLE=1": true, "GPURENT_BASE_URL=http://127.0.0.1:1/api/v1": true,
	} {
		if slices.Contains(got, variable) != want {
			t.Errorf("%s in the environment: %t, want %t", variable, !want, want)
		}
	}
}
