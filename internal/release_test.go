package internal_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
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

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

const releaseWorkflow = ".github/workflows/release.yml"

// A release has the build flags of make build.
func TestRelease_BuiltLikeMakeBuild(t *testing.T) {
	var config struct {
		Builds []struct {
			Env, Flags, Tags, Ldflags []string
			GOOS, GOARCH, GOARM       []string
			Ignore                    []struct{ GOOS, GOARCH string }
		}
	}
	parse(t, ".goreleaser.yml", &config)
	makefile := read(t, "GNUmakefile")
	command := regexp.MustCompile(`(?m)^\tgo build (-.*) -o bin/ \.$`).FindStringSubmatch(makefile)
	if command == nil || len(config.Builds) != 1 {
		t.Fatalf("make build is %q, and a release has %d builds", command, len(config.Builds))
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
			t.Errorf("a release has the flags %q, without %s", build.Flags, want[n])
		}
	}
	if !strings.Contains(makefile, "export CGO_ENABLED := 0\n") || !slices.Equal(build.Env, []string{"CGO_ENABLED=0"}) {
		t.Errorf("a release has the environment %q, and make builds without a C compiler", build.Env)
	}
	var platforms []string
	for _, system := range build.GOOS {
		for _, processor := range build.GOARCH {
			platforms = append(platforms, system+"_"+processor)
		}
	}
	for _, ignored := range build.Ignore {
		platforms = slices.DeleteFunc(platforms, func(platform string) bool {
			return platform == ignored.GOOS+"_"+ignored.GOARCH
		})
	}
	slices.Sort(platforms)
	if !slices.Equal(platforms, program.Platforms) || !slices.Equal(build.GOARM, []string{"6"}) ||
		!slices.Equal(build.Tags, []string{program.Tags}) {
		t.Errorf("a release is built for %v with ARM %v and tags %v; the programs are checked for %v and %s",
			platforms, build.GOARM, build.Tags, program.Platforms, program.Tags)
	}
	setVariable := regexp.MustCompile(`-X ` + module + `/(\S+)\.(\w+)=`)
	variable := setVariable.FindStringSubmatch(strings.Join(build.Ldflags, " "))
	if variable == nil {
		t.Fatalf("%q sets no version", build.Ldflags)
	}
	// The linker ignores a variable that does not exist.
	if source := read(t, variable[1]+"/cli.go"); !strings.Contains(source, "\nvar "+variable[2]+" = ") {
		t.Errorf("there is no variable %s in %s", variable[2], variable[1])
	}
}

// releaseFlow contains the parts of release.yml that the rules check.
type releaseFlow struct {
	Jobs map[string]struct {
		Uses        string            `yaml:"uses"`
		If          string            `yaml:"if"`
		Continue    string            `yaml:"continue-on-error"`
		Environment string            `yaml:"environment"`
		Needs       yaml.Node         `yaml:"needs"`
		Permissions map[string]string `yaml:"permissions"`
		Env         map[string]string `yaml:"env"`
		Steps       []struct {
			Uses     string            `yaml:"uses"`
			Run      string            `yaml:"run"`
			If       string            `yaml:"if"`
			Continue string            `yaml:"continue-on-error"`
			Env      map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// Each job of a release needs the jobs before it and has only the listed permissions. No job can be skipped, and no
// failure is ignored.
func TestReleaseWorkflow_JobsAndRights(t *testing.T) {
	var flow releaseFlow
	parse(t, releaseWorkflow, &flow)
	for name, want := range map[string]struct {
		needs  []string
		rights map[string]string
	}{
		"test":   {},
		"lint":   {},
		"build":  {needs: []string{"test", "lint"}},
		"verify": {needs: []string{"build"}},
		"sign":   {needs: []string{"verify"}},
		"attest": {
			needs:  []string{"verify", "sign"},
			rights: map[string]string{"contents": "read", "id-token": "write", "attestations": "write"},
		},
		"draft": {
			needs:  []string{"verify", "sign", "attest"},
			rights: map[string]string{"contents": "write"},
		},
	} {
		job := flow.Jobs[name]
		needs := slices.DeleteFunc(words(&job.Needs), func(word string) bool { return word == "" })
		if !slices.Equal(needs, want.needs) {
			t.Errorf("%s needs %v, want %v", name, needs, want.needs)
		}
		if !maps.Equal(job.Permissions, want.rights) {
			t.Errorf("%s has the permissions %v, want %v", name, job.Permissions, want.rights)
		}
		if job.If+job.Continue != "" {
			t.Errorf("%s can be skipped, or its failure can be ignored", name)
		}
		for _, step := range job.Steps {
			if step.If+step.Continue != "" {
				t.Errorf("%s: a step can be skipped, or its failure can be ignored: %s%s", name, step.Uses, step.Run)
			}
		}
	}
	if len(flow.Jobs) != 7 {
		t.Errorf("%d jobs, want 7", len(flow.Jobs))
	}
	for _, name := range []string{"test", "lint"} {
		if uses := flow.Jobs[name].Uses; uses != "./.github/workflows/"+name+".yml" {
			t.Errorf("%s calls %q", name, uses)
		}
	}
}

// Only one job has the key. It runs only GitHub's actions and the script that the rehearsal tests. Build tools run in a
// job without the key, and do not publish.
func TestReleaseWorkflow_OnlyTheScriptGetsTheKey(t *testing.T) {
	var flow releaseFlow
	parse(t, releaseWorkflow, &flow)
	for name, job := range flow.Jobs {
		if (job.Environment != "") != (name == "sign") {
			t.Errorf("%s has the environment %q", name, job.Environment)
		}
		if len(job.Env) > 0 {
			t.Errorf("%s sets variables for all of its steps", name)
		}
	}
	own := []string{"actions/checkout", "actions/download-artifact", "actions/upload-artifact"}
	var runs []string
	for _, step := range flow.Jobs["sign"].Steps {
		if step.Run != "" {
			runs = append(runs, step.Run)
		}
		action, _, _ := strings.Cut(step.Uses, "@")
		if action != "" && !slices.Contains(own, action) {
			t.Errorf("%s runs in the job with the key", action)
		}
	}
	if want := []string{`internal/tools/rehearse/sign.sh dist "$VERIFIED"`}; !slices.Equal(runs, want) {
		t.Errorf("sign runs %q, want %q", runs, want)
	}
	if secrets := strings.Count(read(t, releaseWorkflow), "secrets."); secrets != 1 {
		t.Errorf("the workflow uses %d secrets, want only the key", secrets)
	}
	if build := scripts(flow, "build"); !strings.Contains(build, "goreleaser release --clean --skip=publish\n") {
		t.Errorf("build runs %q", build)
	}
	config := map[string]any{}
	parse(t, ".goreleaser.yml", &config)
	if release, ok := config["release"].(map[string]any); !ok || release["disable"] != true || config["signs"] != nil {
		t.Error("GoReleaser publishes or signs")
	}
}

// The verified files are signed and published with both signatures. A maintainer publishes the draft.
func TestReleasesAreSigned(t *testing.T) {
	var flow releaseFlow
	parse(t, releaseWorkflow, &flow)
	for job, parts := range map[string][]string{
		"verify": {"go run ./internal/tools/rehearse verify dist\n"},
		"attest": {
			`sha256sum --check --strict <<< "$VERIFIED  $sums"`, `sha256sum --check --strict "$sums"`,
			"cosign sign-blob ", "cosign verify-blob ",
			`--certificate-identity "https://github.com/$GITHUB_WORKFLOW_REF"`, "gh attestation verify ",
			`--signer-workflow "$GITHUB_REPOSITORY/.github/workflows/release.yml" --source-ref "$GITHUB_REF"`,
		},
		"draft": {
			`sha256sum --check --strict <<< "$VERIFIED  $sums"`, `sha256sum --check --strict "$sums"`,
			"flags=(--draft --verify-tag)", `gh release create "$tag" "${flags[@]}"`,
			`"${files[@]}" "$sums" "$sums.sig" "$sums.sigstore.json"`,
		},
	} {
		script, at := scripts(flow, job), 0
		for _, part := range parts {
			n := strings.Index(script[at:], part)
			if n < 0 {
				t.Errorf("%s does not run %q, or not in this order", job, part)
				continue
			}
			at += n
		}
	}
	var config struct {
		Checksum struct{ Algorithm string }
	}
	parse(t, ".goreleaser.yml", &config)
	if config.Checksum.Algorithm != "sha256" {
		t.Errorf("the algorithm of the checksums is %s, want sha256", config.Checksum.Algorithm)
	}
	page := read(t, "RELEASING.md")
	for _, part := range []string{
		"cosign verify-blob ", "gpg --verify ", "sha256sum --check ", "gh attestation verify ",
		"--signer-workflow gpurent/terraform-provider-gpurent/.github/workflows/release.yml",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("RELEASING.md does not show %q", part)
		}
	}
}

// scripts returns the scripts of a job, in order.
func scripts(flow releaseFlow, job string) string {
	var all strings.Builder
	for _, step := range flow.Jobs[job].Steps {
		all.WriteString(step.Run + "\n")
	}
	return all.String()
}

// A release needs the unit tests on all systems. test.yml runs them unconditionally.
func TestReleaseWorkflow_TestsOnAllSystems(t *testing.T) {
	var test struct {
		On   yaml.Node `yaml:"on"`
		Jobs struct {
			Unit struct {
				If       string
				Continue string `yaml:"continue-on-error"`
				Runs     string `yaml:"runs-on"`
				Strategy struct {
					Matrix struct {
						OS []string
					}
				}
				Steps []struct {
					If, Run  string
					Continue string `yaml:"continue-on-error"`
				}
			}
		}
	}
	parse(t, ".github/workflows/test.yml", &test)
	if !slices.Contains(words(&test.On), "workflow_call") {
		t.Error("release.yml cannot call test.yml")
	}
	unit := test.Jobs.Unit
	var systems []string
	for _, image := range unit.Strategy.Matrix.OS {
		system, _, _ := strings.Cut(image, "-")
		systems = append(systems, system)
	}
	if !slices.Equal(systems, []string{"ubuntu", "macos", "windows"}) || unit.Runs != "${{ matrix.os }}" {
		t.Errorf("the unit tests run on %v: %s", systems, unit.Runs)
	}
	runs := false
	for _, step := range unit.Steps {
		runs = runs || step.Run == "make unit"
		if step.If+step.Continue != "" {
			t.Errorf("a step can be skipped, or its failure can be ignored: %s", step.Run)
		}
	}
	if !runs || unit.If+unit.Continue != "" {
		t.Error("the unit tests can be skipped, or their failure can be ignored")
	}
}

// matrix contains the versions of the CLIs in test.yml.
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

// oldest is the first tested minor version of both CLIs: the first one that supports the language of the examples.
const oldest = 8

// row matches a row of the table of versions in docs/index.md.
var row = regexp.MustCompile(`(?m)^\| .* \| (1\.\d+|–) \| (1\.\d+|–) \|$`)

func TestWorkflows_TestAllSupportedVersions(t *testing.T) {
	var test matrix
	parse(t, ".github/workflows/test.yml", &test)
	tested := map[string][]int{}
	for _, cli := range test.Jobs.Acceptance.Strategy.Matrix.CLI {
		tested[cli.Name] = append(tested[cli.Name], minor(t, cli.Version))
	}
	for _, name := range []string{"terraform", "tofu"} {
		for n, version := range tested[name] {
			if version != oldest+n {
				t.Errorf("%s is tested with the minor versions %v, want all from %d", name, tested[name], oldest)
				break
			}
		}
	}
	rows := row.FindAllStringSubmatch(read(t, "docs/index.md"), -1)
	if len(rows) < 5 {
		t.Fatalf("found only %d rows in docs/index.md", len(rows))
	}
	for _, row := range rows {
		for n, name := range []string{"terraform", "tofu"} {
			if from := row[n+1]; from != "–" && minor(t, from) >= oldest && !slices.Contains(tested[name], minor(t, from)) {
				t.Errorf("docs/index.md mentions %s %s, but only the versions %v are tested", name, from, tested[name])
			}
		}
	}
	for name, module := range map[string]string{
		"terraform": "github.com/hashicorp/terraform", "tofu": "github.com/opentofu/opentofu",
	} {
		goMod := read(t, path.Join("internal/tools", name, "go.mod"))
		built := regexp.MustCompile(`\t` + module + ` v(1\.\d+)`).FindStringSubmatch(goMod)
		if built == nil || !slices.Contains(tested[name], minor(t, built[1])) {
			t.Errorf("make test builds %s %q, but the workflow tests %v", name, built, tested[name])
		}
	}
	for name, versions := range tested {
		newest := fmt.Sprintf("%s_version: 1.%d.", name, slices.Max(versions))
		if !strings.Contains(read(t, ".github/workflows/nightly.yml"), newest) {
			t.Errorf("nightly.yml does not use the newest version: %s", newest)
		}
	}
}

func TestDependabot_AllModules(t *testing.T) {
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
		t.Errorf("the modules are in %v, but Dependabot updates %v", found, named)
	}
}

func TestGoVersion_NewEnoughForAllModules(t *testing.T) {
	have := version.Must(version.NewVersion(strings.TrimSpace(read(t, goVersionFile))))
	if len(have.Segments()) != 3 || strings.Count(have.Original(), ".") != 2 {
		t.Errorf("%s does not contain one version of Go: %s", goVersionFile, have.Original())
	}
	for _, folder := range modules(t) {
		line := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(read(t, path.Join(folder, "go.mod")))
		if line == nil {
			t.Fatalf("the module in %s has no version of Go", folder)
		}
		if need := version.Must(version.NewVersion(line[1])); have.LessThan(need) {
			t.Errorf("the workflows use Go %s, but the module in %s needs %s", have, folder, need)
		}
	}
}

// modules returns the folders with a go.mod, sorted, with "." first. It excludes the stubs below
// internal/tools/terraform, which have no requirements.
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

// minor returns n for the version "1.n".
func minor(t *testing.T, version string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(version, "1."))
	if err != nil {
		t.Fatalf("version %q: %v", version, err)
	}
	return n
}

// read returns a file of the repository.
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
