package internal_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
	yaml "github.com/oasdiff/yaml3"
)

// The program that is released must be the one that is built and measured here.
func TestReleaseIsBuiltAsHere(t *testing.T) {
	var config struct {
		Builds []struct {
			Env, Flags, Tags, Ldflags []string
		}
	}
	parse(t, ".goreleaser.yml", &config)
	makefile := read(t, "GNUmakefile")
	command := regexp.MustCompile(`(?m)^\tgo build (-.*) -o bin/ \.$`).FindStringSubmatch(makefile)
	if command == nil || len(config.Builds) != 1 {
		t.Fatalf("make build is %q and there are %d builds in a release: this test looks for the wrong thing", command, len(config.Builds))
	}
	build := config.Builds[0]
	want := strings.Fields(command[1])
	for n := 0; n < len(want); n++ {
		if want[n] == "-tags" {
			n++
			if tags := strings.Join(build.Tags, ","); tags != want[n] {
				t.Errorf("a release has the build tags %q, make build %q", tags, want[n])
			}
		} else if !slices.Contains(build.Flags, want[n]) {
			t.Errorf("a release is built with %q, without %s", build.Flags, want[n])
		}
	}
	if !strings.Contains(makefile, "export CGO_ENABLED := 0\n") || !slices.Equal(build.Env, []string{"CGO_ENABLED=0"}) {
		t.Errorf("a release is built with %q, but make without a C compiler", build.Env)
	}
	variable := regexp.MustCompile(`-X ` + module + `/(\S+)\.(\w+)=`).FindStringSubmatch(strings.Join(build.Ldflags, " "))
	if variable == nil {
		t.Fatalf("%q tells no version", build.Ldflags)
	}
	// The linker says nothing of a variable that is not there.
	if source := read(t, variable[1]+"/cli.go"); !strings.Contains(source, "\nvar "+variable[2]+" = ") {
		t.Errorf("there is no variable %s in %s", variable[2], variable[1])
	}
}

// The checksums of a release are signed with the key that registries know, and for those who have no key of ours.
func TestReleasesAreSigned(t *testing.T) {
	var config struct {
		Signs []struct {
			ID, Cmd, Artifacts string
			Args               []string
		}
		Checksum struct{ Algorithm string }
	}
	parse(t, ".goreleaser.yml", &config)
	if config.Checksum.Algorithm != "sha256" {
		t.Errorf("the checksums are %s", config.Checksum.Algorithm)
	}
	how := map[string]string{}
	for _, sign := range config.Signs {
		if sign.Artifacts != "checksum" {
			t.Errorf("%s signs %s", sign.ID, sign.Artifacts)
		}
		how[sign.ID] = sign.Cmd + " " + strings.Join(sign.Args, " ")
	}
	if len(how) != 2 || !strings.Contains(how["registries"], "--detach-sign") || !strings.HasPrefix(how["sigstore"], "cosign sign-blob ") {
		t.Errorf("a release is signed so: %q", how)
	}
}

// matrix are the versions of a CLI that the tests run with.
type matrix struct {
	Jobs struct {
		Acceptance struct {
			Strategy struct {
				Matrix struct {
					CLI []struct{ Name, Version string }
				}
			}
		}
	}
}

// oldest is the first minor version of either CLI that is tested: the first that
// has all of the language that our examples use.
const oldest = 8

func TestAllPromisedVersionsAreTested(t *testing.T) {
	var test matrix
	parse(t, ".github/workflows/test.yml", &test)
	tested := map[string][]int{}
	for _, cli := range test.Jobs.Acceptance.Strategy.Matrix.CLI {
		tested[cli.Name] = append(tested[cli.Name], minor(t, cli.Version))
	}
	for _, name := range []string{"terraform", "tofu"} {
		for n, version := range tested[name] {
			if version != oldest+n {
				t.Errorf("%s is tested with the minor versions %v: one is missing, or they do not begin with %d", name, tested[name], oldest)
				break
			}
		}
	}
	rows := regexp.MustCompile(`(?m)^\| .* \| (1\.\d+|–) \| (1\.\d+|–) \|$`).FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(rows) < 5 {
		t.Fatalf("only %d rows were found in README.md: this test looks for the wrong thing", len(rows))
	}
	for _, row := range rows {
		for n, name := range []string{"terraform", "tofu"} {
			if from := row[n+1]; from != "–" && minor(t, from) >= oldest && !slices.Contains(tested[name], minor(t, from)) {
				t.Errorf("README.md promises something from %s %s, which no test runs with: %v", name, from, tested[name])
			}
		}
	}
	for name, module := range map[string]string{"terraform": "github.com/hashicorp/terraform", "tofu": "github.com/opentofu/opentofu"} {
		built := regexp.MustCompile(`\t` + module + ` v(1\.\d+)`).FindStringSubmatch(read(t, path.Join("internal/tools", name, "go.mod")))
		if built == nil || !slices.Contains(tested[name], minor(t, built[1])) {
			t.Errorf("make test builds %s %q, the workflow tests %v", name, built, tested[name])
		}
	}
	for name, versions := range tested {
		newest := fmt.Sprintf("%s_version: 1.%d.", name, slices.Max(versions))
		if !strings.Contains(read(t, ".github/workflows/soak.yml"), newest) {
			t.Errorf("the long runs are not made with the newest: %s", newest)
		}
	}
}

func TestAllModulesAreKeptUpToDate(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	parse(t, ".github/dependabot.yml", &config)
	var named []string
	for _, update := range config.Updates {
		if update.Ecosystem == "gomod" {
			named = append(named, update.Directories...)
		}
	}
	var found []string
	for _, folder := range modules(t) {
		found = append(found, path.Join("/", folder))
	}
	slices.Sort(named)
	if !slices.Equal(named, found) {
		t.Errorf("modules are in %v, and kept up to date in %v", found, named)
	}
}

func TestGoIsNewEnoughForAllModules(t *testing.T) {
	have := version.Must(version.NewVersion(strings.TrimSpace(read(t, goVersionFile))))
	if len(have.Segments()) != 3 || strings.Count(have.Original(), ".") != 2 {
		t.Errorf("%s does not name one Go: %s", goVersionFile, have.Original())
	}
	for _, folder := range modules(t) {
		line := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(read(t, path.Join(folder, "go.mod")))
		if line == nil {
			t.Fatalf("the module in %s names no Go", folder)
		}
		if need := version.Must(version.NewVersion(line[1])); have.LessThan(need) {
			t.Errorf("the workflows use Go %s, and the module in %s needs %s", have, folder, need)
		}
	}
}

// modules returns the folders with a go.mod, sorted, with "." first. It leaves out
// the stubs below internal/tools/terraform, which require nothing.
func modules(t *testing.T) (found []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && file != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "stubs") {
			return fs.SkipDir
		}
		if path.Base(file) == "go.mod" {
			found = append(found, path.Dir(file))
		}
		return err
	})
	if err != nil || len(found) < 3 {
		t.Fatalf("modules %v: %v", found, err)
	}
	slices.Sort(found)
	return found
}

// minor is the n of "1.n".
func minor(t *testing.T, version string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(version, "1."))
	if err != nil {
		t.Fatalf("version %q: %v", version, err)
	}
	return n
}

// read is a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))
}

func parse(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
