// Package internal_test holds the rules of the house itself.
package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gpurent/terraform-provider-gpurent"

// mayImport is the import rule: which of our packages each package may use. A
// folder not listed may use nothing of ours. A star stands for one folder.
var mayImport = map[string][]string{
	".":                              {"internal/cli"},
	"internal/cli":                   {"internal/provider", "internal/simulator", "internal/rental", "internal/poll", "internal/credentials"},
	"internal/provider":              {"internal/service/*", "internal/tfkit", "internal/rental", "internal/credentials"},
	"internal/service/*":             {"internal/tfkit", "internal/poll", "internal/rental"},
	"internal/tfkit":                 {"internal/rental"},
	"internal/credentials":           {"internal/atomicfile"},
	"internal/simulator":             {"internal/contract", "internal/simulator/console", "internal/atomicfile"},
	"internal/contract/contracttest": {"internal/contract"},
	"internal/acctest":               {"internal/provider", "internal/simulator", "internal/contract/contracttest"},
	"internal/tools/*":               {"internal/tools/*"},
	"internal/tools/docgen":          {"internal/provider"},
	"internal/bench":                 {"internal/simulator", "internal/tools/*"},
}

func TestImportRule(t *testing.T) {
	packages := 0
	for folder, files := range sources(t) {
		packages++
		for _, file := range files {
			for _, imported := range ourImports(t, file) {
				if !allowed(folder, imported) {
					t.Errorf("%s imports %s: the import rule in internal/README.md forbids it", file, imported)
				}
			}
		}
	}
	if packages < 10 {
		t.Fatalf("only %d packages were found: this test looks in the wrong place", packages)
	}
}

func TestImportRuleForbidsWhatItShould(t *testing.T) {
	for _, forbidden := range [][2]string{
		{"internal/simulator", "internal/rental"},
		{"internal/service/instance", "internal/service/template"},
		{"internal/service/instance", "internal/provider"},
		{"internal/rental", "internal/tfkit"},
		{"internal/poll", "internal/rental"},
		{"internal/tfkit", "internal/service/instance"},
		{"internal/provider", "internal/simulator"},
		{".", "internal/provider"},
		{"internal/tools/demo", "internal/provider"},
		{"internal/bench", "internal/rental"},
		{"internal/cli", "internal/bench"},
	} {
		if allowed(forbidden[0], forbidden[1]) {
			t.Errorf("%s may import %s", forbidden[0], forbidden[1])
		}
	}
}

// What tests need must not be in the binary that users run.
func TestShippedBinaryHasNoTestCode(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "..").Output()
	if err != nil {
		t.Fatal(err)
	}
	testOnly := []string{
		"github.com/getkin/kin-openapi", "github.com/hashicorp/terraform-plugin-testing", "pgregory.net/rapid",
		"github.com/chromedp/chromedp", "github.com/oasdiff/yaml3", "github.com/hashicorp/hcl/v2", "github.com/zclconf/go-cty",
		"golang.org/x/mod",
		module + "/internal/acctest", module + "/internal/contract/contracttest", module + "/internal/tools", module + "/internal/bench",
		// These cost every start, or every download, more than they give.
		"github.com/spf13/cobra", "github.com/spf13/pflag", "log/slog",
		"net/http/httptest", "net/http/pprof", "runtime/pprof", "expvar", "time/tzdata",
	}
	ours := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name, imports := fields[0], fields[1:]
		for _, unwanted := range testOnly {
			if name == unwanted || strings.HasPrefix(name, unwanted+"/") {
				t.Errorf("%s is in the binary", name)
			}
		}
		if name != module && !strings.HasPrefix(name, module+"/") {
			continue // what libraries import is theirs
		}
		ours++
		if slices.Contains(imports, "testing") {
			t.Errorf("%s ships and imports testing", name)
		}
	}
	if ours < 10 {
		t.Fatalf("only %d packages of ours in the binary: this test looks in the wrong place", ours)
	}
}

// sources are the Go files of the module without tests, by folder.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." {
			return filepath.SkipDir
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			folder, err := filepath.Rel("..", filepath.Dir(file))
			if err != nil {
				return err
			}
			found[filepath.ToSlash(folder)] = append(found[filepath.ToSlash(folder)], file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ourImports are the folders of our own packages that a file imports.
func ourImports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if folder, ok := strings.CutPrefix(name, module+"/"); ok {
			ours = append(ours, folder)
		}
	}
	return ours
}

func allowed(folder, imported string) bool {
	for from, targets := range mayImport {
		if ok, err := path.Match(from, folder); err != nil || !ok {
			continue
		}
		for _, target := range targets {
			if ok, err := path.Match(target, imported); err == nil && ok {
				return true
			}
		}
	}
	return false
}
