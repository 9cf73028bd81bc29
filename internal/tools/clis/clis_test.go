package clis

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	for name, test := range map[string]struct{ answer, want, complaint string }{
		"as Terraform and OpenTofu say it": {answer: `{"terraform_version":"1.11.4","platform":"linux_amd64"}`, want: "1.11.4"},
		"without a version":                {answer: `{}`, complaint: "no version"},
		"not JSON":                         {answer: "Terraform v0.11.0", complaint: "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseVersion([]byte(test.answer))
			if got != test.want {
				t.Errorf("version %q, want %q", got, test.want)
			}
			if (err == nil) != (test.complaint == "") || err != nil && !strings.Contains(err.Error(), test.complaint) {
				t.Errorf("error %v, want %q", err, test.complaint)
			}
		})
	}
}

func TestRequiredVersionIsThatOfTheToolModule(t *testing.T) {
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	version, err := requiredVersion(t.Context(), filepath.Join(root, toolModule))
	if err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile(filepath.Join(root, toolModule, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(goMod), tofuModule+" "+version) {
		t.Errorf("%q is not what go.mod requires", version)
	}
}

func TestVersionOfAModuleThatIsNotRequired(t *testing.T) {
	if version, err := versionOf([]byte(`{"Require":[{"Path":"example.org/other","Version":"v1.0.0"}]}`), tofuModule); err == nil {
		t.Errorf("version %q of a module that is not required", version)
	}
}

func TestEnvironKeepsADevelopersSettingsOut(t *testing.T) {
	inherited := []string{"PATH=/bin", "TF_CLI_CONFIG_FILE=/missing", "TF_VAR_gpu=h100", "GPURENT_API_KEY=secret", "TFOO=kept"}
	got := environ(inherited, []string{"GPURENT_BASE_URL=http://127.0.0.1:1/api/v1"})
	want := []string{"PATH=/bin", "TFOO=kept", "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "GPURENT_BASE_URL=http://127.0.0.1:1/api/v1"}
	if !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
	if len(inherited) != 5 || inherited[1] != "TF_CLI_CONFIG_FILE=/missing" {
		t.Errorf("the inherited environment was changed: %q", inherited)
	}
}

func TestCLIsOnPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	for name, test := range map[string]struct {
		programs []string
		chosen   string
		all, one string
	}{
		"both":                      {programs: []string{"tofu", "terraform"}, all: "terraform 1.2.3, tofu 1.2.3", one: "terraform 1.2.3"},
		"tofu only":                 {programs: []string{"tofu"}, all: "tofu 1.2.3", one: "tofu 1.2.3"},
		"both, and Terraform asked": {programs: []string{"tofu", "terraform"}, chosen: "terraform", all: "terraform 1.2.3", one: "terraform 1.2.3"},
		"both, and OpenTofu asked":  {programs: []string{"tofu", "terraform"}, chosen: "tofu", all: "tofu 1.2.3", one: "terraform 1.2.3"},
		"Terraform alone and asked": {programs: []string{"terraform"}, chosen: "terraform", all: "terraform 1.2.3", one: "terraform 1.2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for _, program := range test.programs {
				standIn(t, folder, program, `echo '{"terraform_version":"1.2.3"}'`)
			}
			t.Setenv("PATH", folder)
			t.Setenv(chosen, test.chosen)
			all, err := All(t.Context(), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			one, err := One(t.Context(), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, cli := range all {
				names = append(names, cli.String())
			}
			if got := strings.Join(names, ", "); got != test.all || one.String() != test.one {
				t.Errorf("all: %s, one: %s; want %s and %s", got, one, test.all, test.one)
			}
		})
	}
}

// A matrix of versions must not quietly test another one, or build its own.
func TestChosenCLIMustBeOnPath(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, complaint := range map[string]string{"tofu": "not found", "terraform": "not found", "opentofu": "not \"terraform\" or \"tofu\""} {
		t.Setenv(chosen, name)
		if found, err := All(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v and %v, want an error with %q", name, found, err, complaint)
		}
	}
}

// A CLI that does not work is an error that names it, not a reason to test less.
func TestBrokenCLIOnPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	folder := t.TempDir()
	standIn(t, folder, "terraform", "echo no version is configured >&2; exit 1")
	t.Setenv("PATH", folder)
	t.Setenv(chosen, "")
	for name, find := range map[string]func() error{
		"All": func() error { _, err := All(t.Context(), io.Discard); return err },
		"One": func() error { _, err := One(t.Context(), io.Discard); return err },
	} {
		if err := find(); err == nil || !strings.Contains(err.Error(), "no version is configured") {
			t.Errorf("%s: %v, want what the program complained of", name, err)
		}
	}
}

func standIn(t *testing.T, folder, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyOpenTofuNeedsItsHostNamed(t *testing.T) {
	if host := (CLI{Name: "terraform"}).ProviderHost(); host != "" {
		t.Errorf("Terraform is told %q", host)
	}
	if host := (CLI{Name: "tofu"}).ProviderHost(); host == "" {
		t.Error("OpenTofu is told nothing")
	}
}
