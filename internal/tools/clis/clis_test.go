package clis

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	for name, test := range map[string]struct{ output, want, wantErr string }{
		"of Terraform and OpenTofu": {output: `{"terraform_version":"1.11.4","platform":"linux_amd64"}`, want: "1.11.4"},
		"without a version":         {output: `{}`, wantErr: "no terraform_version"},
		"not JSON":                  {output: "Terraform v0.11.0", wantErr: "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseVersion([]byte(test.output))
			if got != test.want {
				t.Errorf("version %q, want %q", got, test.want)
			}
			if (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestOlderThan(t *testing.T) {
	for number, want := range map[string]bool{
		"1.11.4": true, "1.13.99": true, "1.14.0-beta1": false, "1.14.0": false, "1.15.9": false, "1.17.0-dev": false,
	} {
		if got, err := olderThan(number, "1.14.0"); got != want || err != nil {
			t.Errorf("%s older than 1.14.0: %t (%v), want %t", number, got, err, want)
		}
	}
	if _, err := olderThan("next", "1.14.0"); err == nil {
		t.Error("no error for a version that is not a number")
	}
}

func TestLocate_VersionOfToolsModule(t *testing.T) {
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		built, err := s.locate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		goMod, err := os.ReadFile(filepath.Join(root, s.folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(goMod), s.module+" "+built.version) {
			t.Errorf("%s: go.mod does not require %q", s.product, built.version)
		}
		if folder := s.name + "-" + built.version; filepath.Base(filepath.Dir(built.path)) != folder {
			t.Errorf("%s is cached at %s, want the folder %s", s.product, built.path, folder)
		}
	}
}

func TestRequirement_MissingModule(t *testing.T) {
	goMod := []byte(`{"Require":[{"Path":"example.org/other","Version":"v1.0.0"}]}`)
	if got, err := requirement(goMod, "github.com/opentofu/opentofu"); err == nil {
		t.Errorf("version %q of a module that is not required", got)
	}
}

func TestEnviron_RemovesSettingsOfDeveloper(t *testing.T) {
	const added = "GPURENT_BASE_URL=http://127.0.0.1:1/api/v1"
	inherited := []string{
		"PATH=/bin", "TF_CLI_CONFIG_FILE=/missing", "TF_VAR_gpu=h100", "GPURENT_API_KEY=secret", "TFOO=kept",
	}
	got := environ(inherited, []string{added})
	want := []string{"PATH=/bin", "TFOO=kept", "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", added}
	if !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
	if len(inherited) != 5 || inherited[1] != "TF_CLI_CONFIG_FILE=/missing" {
		t.Errorf("the inherited environment was changed: %q", inherited)
	}
}

// machine describes the CLIs of a machine by their versions; "" means that there is none.
type machine struct{ terraform, tofu, builtTerraform, builtTofu string }

// use gives the test this machine's PATH and cache folder, with scripts in place
// of the CLIs.
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
	if err := os.Symlink(goTool, filepath.Join(folder, "go")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	writeCLI(t, filepath.Join(folder, terraform), m.terraform)
	writeCLI(t, filepath.Join(folder, tofu), m.tofu)
	for n, number := range []string{m.builtTerraform, m.builtTofu} {
		built, err := sources[n].locate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		writeCLI(t, built.path, number)
	}
}

func writeCLI(t *testing.T, path, number string) {
	t.Helper()
	if number != "" {
		writeScript(t, path, `echo '{"terraform_version":"`+number+`"}'`)
	}
}

func writeScript(t *testing.T, path, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	both := machine{terraform: "1.8.5", tofu: "1.8.0", builtTerraform: "1.15.9", builtTofu: "1.12.6"}
	const noTerraform, noTofu = "terraform is not on PATH", "tofu is not on PATH"
	for name, test := range map[string]struct {
		machine machine
		want    map[string]string // the CLIs of each selection
	}{
		"both are new": {machine{terraform: "1.14.0", tofu: "1.12.6"}, map[string]string{
			"one": "terraform 1.14.0", "all": "terraform 1.14.0, tofu 1.12.6",
			"terraform": "terraform 1.14.0", "tofu": "tofu 1.12.6",
		}},
		"Terraform does not support all tests": {machine{terraform: "1.11.4", tofu: "1.12.6", builtTerraform: "1.15.9"},
			map[string]string{
				"one": "terraform 1.11.4", "terraform": "terraform 1.11.4",
				"all": "terraform 1.15.9 built: terraform 1.11.4 on PATH is older than 1.14.0, tofu 1.12.6",
			}},
		"only OpenTofu": {machine{tofu: "1.12.6", builtTerraform: "1.15.9"}, map[string]string{
			"one": "tofu 1.12.6", "terraform": "terraform 1.15.9 built: " + noTerraform,
		}},
		"Terraform is not supported": {machine{terraform: "1.10.5", tofu: "1.12.0"}, map[string]string{"one": "tofu 1.12.0"}},
		"neither is supported": {both, map[string]string{
			"one": "terraform 1.15.9 built: terraform 1.8.5 on PATH is older than 1.11.0, " +
				"tofu 1.8.0 on PATH is older than 1.12.0",
			"terraform": "terraform 1.8.5", "tofu": "tofu 1.8.0", // the named CLI, as in a matrix of versions
			"all": "terraform 1.15.9 built: terraform 1.8.5 on PATH is older than 1.14.0, " +
				"tofu 1.12.6 built: tofu 1.8.0 on PATH is older than 1.12.0",
		}},
		"both are built": {machine{builtTerraform: "1.15.9", builtTofu: "1.12.6"}, map[string]string{
			"one": "terraform 1.15.9 built: " + noTerraform + ", " + noTofu, "tofu": "tofu 1.12.6 built: " + noTofu,
		}},
		"one is built": {machine{builtTofu: "1.12.6"}, map[string]string{
			"one": "tofu 1.12.6 built: " + noTerraform + ", " + noTofu,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			test.machine.use(t)
			for selection, want := range test.want {
				var progress strings.Builder
				found, err := Find(t.Context(), selection, &progress)
				var names []string
				for _, cli := range found {
					names = append(names, withReason(cli))
				}
				if got := strings.Join(names, ", "); got != want || err != nil || progress.String() != "" {
					t.Errorf("%s: %s (%v), printed %q\nwant %s without a build", selection, got, err, &progress, want)
				}
			}
		})
	}
}

func TestFind_UnknownSelection(t *testing.T) {
	found, err := Find(t.Context(), "opentofu", io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"opentofu"`) {
		t.Errorf("%v and %v, want an error that names the selection", found, err)
	}
}

// A CLI that fails to start is an error, not a reason to use another one.
func TestFind_BrokenCLIOnPath(t *testing.T) {
	machine{builtTerraform: "1.15.9", builtTofu: "1.12.6"}.use(t)
	writeScript(t, filepath.Join(os.Getenv("PATH"), terraform), "echo no version is configured >&2; exit 1")
	for _, selection := range []string{"one", "all", terraform} {
		_, err := Find(t.Context(), selection, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "no version is configured") {
			t.Errorf("%s: %v, want the output of the program", selection, err)
		}
	}
}

func TestDescribe_NamesReasonOfBuild(t *testing.T) {
	cli := CLI{Name: terraform, Version: "1.15.9", Path: "/cache/terraform"}
	if got, want := cli.Describe(), "terraform 1.15.9 (/cache/terraform)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	cli.BuildReason = "not on PATH"
	if got, want := cli.Describe(), "terraform 1.15.9 (/cache/terraform, built from source: not on PATH)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func withReason(cli CLI) string {
	if cli.BuildReason == "" {
		return cli.String()
	}
	return cli.String() + " built: " + cli.BuildReason
}

func TestProviderHost_OnlyForOpenTofu(t *testing.T) {
	if host := (CLI{Name: terraform}).ProviderHost(); host != "" {
		t.Errorf("host %q for Terraform", host)
	}
	if host := (CLI{Name: tofu}).ProviderHost(); host == "" {
		t.Error("no host for OpenTofu")
	}
}
