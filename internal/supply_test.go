package internal_test

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

// listed is the output of go list for a package in the binary.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *debug.Module

	CgoFiles, CFiles, CXXFiles, MFiles, FFiles, SwigFiles, SwigCXXFiles, SysoFiles []string
}

// compiled returns the packages in the binary, by platform of a release. It builds no program:
// TestBuiltProgram_HoldsReviewedModulesOnly compares the packages with a program.
var compiled = sync.OnceValues(func() (map[string][]listed, error) {
	found := map[string][]listed{}
	for _, platform := range program.Platforms {
		packages, err := listPackages(platform)
		if err != nil {
			return nil, err
		}
		found[platform] = packages
	}
	return found, nil
})

// host is the platform of this machine.
const host = runtime.GOOS + "_" + runtime.GOARCH

// hostPackages returns the packages in the binary for this machine, whose platform may have no release.
var hostPackages = sync.OnceValues(func() ([]listed, error) { return listPackages(host) })

func listPackages(platform string) (found []listed, err error) {
	command := exec.Command("go", "list", "-deps", "-json", "-tags", program.Tags, "..")
	command.Env = append(os.Environ(), environment(platform)...)
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var each listed
		switch err := decoder.Decode(&each); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		}
		found = append(found, each)
	}
}

// environment returns the environment of a release build for a platform.
func environment(platform string) []string {
	system, processor, _ := strings.Cut(platform, "_")
	return []string{"GOOS=" + system, "GOARCH=" + processor, "GOARM=6", "CGO_ENABLED=0", "GOFLAGS="}
}

// modulesOf returns the modules of packages, sorted, without this module.
func modulesOf(packages []listed) (found []string) {
	for _, each := range packages {
		if each.Module != nil && each.Module.Path != module {
			found = append(found, each.Module.Path)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func rules(t *testing.T) program.Rules {
	t.Helper()
	found, err := program.ReadRules(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A program that is built like a release records exactly the modules of go list. All are reviewed, with the versions
// and checksums in go.mod and go.sum. The release rehearsal checks the programs of all platforms.
func TestBuiltProgram_HoldsReviewedModulesOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	command := exec.CommandContext(t.Context(),
		"go", "build", "-trimpath", "-tags", program.Tags, "-ldflags", "-s -w", "-o", file, "..")
	command.Env = append(os.Environ(), environment(host)...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := rules(t).Check(content, host); err != nil {
		t.Errorf("the program for %s:\n%v", host, err)
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var recorded []string
	for _, each := range info.Deps {
		recorded = append(recorded, each.Path)
	}
	packages, err := hostPackages()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(modulesOf(packages), recorded); diff != "" {
		t.Errorf("modules by go list and in the program (-listed +recorded):\n%s", diff)
	}
}

// The list of reviewed modules contains exactly the modules in the binaries.
func TestModules_AreTheReviewedOnes(t *testing.T) {
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, packages := range all {
		held = append(held, modulesOf(packages)...)
	}
	slices.Sort(held)
	if diff := cmp.Diff(rules(t).Reviewed, slices.Compact(held)); diff != "" {
		t.Errorf("reviewed modules and those in the binaries (-reviewed +held):\n%s", diff)
	}
}

// The binaries contain no C code and no prebuilt object file.
func TestModules_NoForeignCode(t *testing.T) {
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for platform, packages := range all {
		for _, each := range packages {
			foreign := slices.Concat(each.CgoFiles, each.CFiles, each.CXXFiles, each.MFiles, each.FFiles,
				each.SwigFiles, each.SwigCXXFiles, each.SysoFiles)
			if !each.Standard && len(foreign) > 0 {
				t.Errorf("%s: %s has %v", platform, each.ImportPath, foreign)
			}
		}
	}
}

// mayReplace lists the modules that build CLIs for tests. Stubs replace the backends of Terraform, and OpenTofu has a
// replacement.
var mayReplace = []string{"internal/tools/terraform", "internal/tools/tofu"}

// No go.mod replaces a module, neither the provider's nor that of a tool.
func TestModules_NotReplaced(t *testing.T) {
	directive := regexp.MustCompile(`(?m)^[ \t]*(replace|exclude|toolchain)\b.*`)
	for _, folder := range modules(t) {
		for _, found := range directive.FindAllStringSubmatch(read(t, path.Join(folder, "go.mod")), -1) {
			if found[1] != "replace" || !slices.Contains(mayReplace, folder) {
				t.Errorf("%s/go.mod: %s", folder, found[0])
			}
		}
		if _, err := os.Stat(filepath.Join("..", folder, "go.sum")); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"go.work", "vendor"} {
			if _, err := os.Stat(filepath.Join("..", folder, name)); err == nil {
				t.Errorf("%s/%s can replace modules", folder, name)
			}
		}
	}
}
