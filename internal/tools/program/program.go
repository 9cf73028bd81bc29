// Package program checks a built provider: its platform, build flags and modules, and that it contains no test code. It
// reads the program, not the configuration of the build.
package program

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Module is the path of the provider's module.
const Module = "github.com/gpurent/terraform-provider-gpurent"

// Tags are the build tags of every build of the provider.
const Tags = "grpcnotrace"

// Platforms are the platforms of a release, as GOOS_GOARCH.
var Platforms = []string{
	"darwin_amd64", "darwin_arm64", "freebsd_386", "freebsd_amd64", "freebsd_arm", "freebsd_arm64",
	"linux_386", "linux_amd64", "linux_arm", "linux_arm64", "windows_386", "windows_amd64", "windows_arm64",
}

// Unwanted are packages, with everything below them, that are not in the provider.
var Unwanted = []string{
	// For tests and tools only.
	"github.com/ProtonMail/go-crypto", "github.com/chromedp/chromedp", "github.com/getkin/kin-openapi",
	"github.com/hashicorp/hcl/v2", "github.com/hashicorp/terraform-plugin-testing", "github.com/oasdiff/yaml3",
	"github.com/zclconf/go-cty", "golang.org/x/mod", "golang.org/x/tools", "pgregory.net/rapid", "net/http/httptest",
	Module + "/internal/acctest", Module + "/internal/bench", Module + "/internal/contract/contracttest",
	Module + "/internal/tools",
	// They slow down starts and downloads without a benefit.
	"github.com/spf13/cobra", "github.com/spf13/pflag", "log/slog", "net/http/pprof", "runtime/pprof", "expvar",
	"time/tzdata",
}

// reviewedFile lists the modules that may be in the provider, one per line.
const reviewedFile = "internal/tools/program/modules.txt"

// Rules are the requirements for a built provider.
type Rules struct {
	// Reviewed are the paths of the reviewed modules, sorted.
	Reviewed []string
	// Versions are the versions in go.mod, by module path.
	Versions map[string]string
	// Sums are the checksums in go.sum, by "path version".
	Sums map[string]string
	// Commit is the commit that the program must be built from, without changes; if
	// empty, the commit is not checked.
	Commit string
}

// ReadRules reads the rules from the module's folder.
func ReadRules(root fs.FS) (Rules, error) {
	rules := Rules{Versions: map[string]string{}, Sums: map[string]string{}}
	content, err := fs.ReadFile(root, reviewedFile)
	if err != nil {
		return Rules{}, err
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "#" {
			rules.Reviewed = append(rules.Reviewed, fields[0])
		}
	}
	slices.Sort(rules.Reviewed)
	if content, err = fs.ReadFile(root, "go.mod"); err != nil {
		return Rules{}, err
	}
	parsed, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		return Rules{}, err
	}
	for _, required := range parsed.Require {
		rules.Versions[required.Mod.Path] = required.Mod.Version
	}
	if content, err = fs.ReadFile(root, "go.sum"); err != nil {
		return Rules{}, err
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) == 3 {
			rules.Sums[fields[0]+" "+fields[1]] = fields[2]
		}
	}
	if len(rules.Reviewed) == 0 || len(rules.Versions) == 0 || len(rules.Sums) == 0 {
		return Rules{}, errors.New("no modules found in " + reviewedFile + ", go.mod or go.sum")
	}
	return rules, nil
}

// Check returns all problems of a program for a platform, such as "linux_amd64".
func (r Rules) Check(program []byte, platform string) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	return errors.Join(r.CheckInfo(info, platform), CheckFunctions(program))
}

// CheckInfo checks the platform, the flags and the modules that the Go command recorded in a program.
func (r Rules) CheckInfo(info *debug.BuildInfo, platform string) error {
	problems := r.checkSettings(info, platform)
	if info.Path != Module || info.Main.Path != Module || info.Main.Replace != nil {
		problems = append(problems, fmt.Errorf("program %s of module %s, want %s", info.Path, info.Main.Path, Module))
	}
	if len(info.Deps) == 0 {
		problems = append(problems, errors.New("the program lists no modules"))
	}
	for _, module := range info.Deps {
		problems = append(problems, r.checkModule(module))
	}
	return errors.Join(problems...)
}

func (r Rules) checkSettings(info *debug.BuildInfo, platform string) (problems []error) {
	system, processor, _ := strings.Cut(platform, "_")
	want := map[string]string{
		"GOOS": system, "GOARCH": processor, "CGO_ENABLED": "0",
		"-trimpath": "true", "-tags": Tags, "-buildmode": "exe", "-compiler": "gc",
	}
	if processor == "arm" {
		want["GOARM"] = "6" // the oldest processor that the CLIs support as "arm"
	}
	if r.Commit != "" {
		want["vcs.revision"], want["vcs.modified"] = r.Commit, "false"
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		// GOARM can have a suffix such as ",softfloat".
		if value, _, _ := strings.Cut(settings[key], ","); value != want[key] {
			problems = append(problems, fmt.Errorf("built with %s=%q, want %q", key, settings[key], want[key]))
		}
	}
	return problems
}

func (r Rules) checkModule(module *debug.Module) error {
	version := r.Versions[module.Path]
	switch {
	case module.Replace != nil:
		return fmt.Errorf("%s is replaced by %s", module.Path, module.Replace.Path)
	case !slices.Contains(r.Reviewed, module.Path):
		return fmt.Errorf("%s is not listed in %s", module.Path, reviewedFile)
	case module.Version != version:
		return fmt.Errorf("%s %s, but go.mod has version %q", module.Path, module.Version, version)
	case module.Sum == "" || module.Sum != r.Sums[module.Path+" "+version]:
		return fmt.Errorf("%s %s with checksum %q, not the one in go.sum", module.Path, version, module.Sum)
	}
	return nil
}

// CheckFunctions searches a program's table of functions for those of unwanted packages and of package testing.
// Stripped programs keep the table. It is a list of names such as "net/http.Get", each between two zero bytes.
func CheckFunctions(program []byte) error {
	if !hasFunction(program, Module+"/internal/rental.") {
		return errors.New("the program's table of functions was not found")
	}
	var problems []error
	for _, unwanted := range Unwanted {
		if hasFunction(program, unwanted+".") || hasFunction(program, unwanted+"/") {
			problems = append(problems, fmt.Errorf("the program has functions of %s", unwanted))
		}
	}
	// A library imports testing, so that the initialization of testing remains.
	used := regexp.MustCompile(`\x00testing\.[^\x00]+`).FindAll(program, -1)
	for _, function := range used {
		if name := string(bytes.Trim(function, "\x00")); !strings.HasPrefix(name, "testing.init") {
			problems = append(problems, fmt.Errorf("the program has the function %s", name))
		}
	}
	return errors.Join(problems...)
}

func hasFunction(program []byte, prefix string) bool {
	return bytes.Contains(program, append([]byte{0}, prefix...))
}
