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

// listed is what go list says about a package that is compiled into the binary.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *debug.Module

	CgoFiles, CFiles, CXXFiles, MFiles, FFiles, SwigFiles, SwigCXXFiles, SysoFiles []string
}

// compiled returns the packages in the binary, by platform of a release. It reads no
// program: TestBuiltProgram_HoldsReviewedModulesOnly compares it with one.
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

// hostPackages returns the packages in the binary for this machine, which need not be a platform of a release.
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

// environment is that of a release's build for a platform.
func environment(platform string) []string {
	system, processor, _ := strings.Cut(platform, "_")
	return []string{"GOOS=" + system, "GOARCH=" + processor, "GOARM=6", "CGO_ENABLED=0", "GOFLAGS="}
}

// modulesOf returns the modules of packages, sorted, without ours.
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

// A program that is built for this machine, as a release is, records its modules:
// exactly those of go list, all of them reviewed, with versions and checksums as in
// go.mod and go.sum. The release rehearsal checks the programs of all platforms.
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

// The list of reviewed modules is exactly what is in the binary of some platform.
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

// No C code and no prebuilt object file is compiled in on any platform of a release.
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

// mayReplace are the modules that build other programs for tests: Terraform's own tests
// of backends are replaced by stubs, and OpenTofu comes with a replacement.
var mayReplace = []string{"internal/tools/terraform", "internal/tools/tofu"}

// No module is built from another module's code, neither ours nor that of a tool.
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
				t.Errorf("%s/%s replaces modules", folder, name)
			}
		}
	}
}
