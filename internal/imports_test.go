// Package internal_test checks rules for the whole repository.
package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

const module = "github.com/gpurent/terraform-provider-gpurent"

// allowedImports lists the packages of the module that each package may import. A folder that is not listed may import
// none of them. A star matches one folder.
var allowedImports = map[string][]string{
	".": {"internal/cli"},
	"internal/cli": {
		"internal/provider",
		"internal/simulator",
		"internal/cost",
		"internal/unmanaged",
		"internal/rental",
		"internal/backoff",
		"internal/credentials",
	},
	"internal/unmanaged": {"internal/fleet", "internal/lifecycle", "internal/rubles", "internal/rental"},
	"internal/cost": {
		"internal/fleet",
		"internal/market",
		"internal/lifecycle",
		"internal/failure",
		"internal/rubles",
		"internal/rental",
	},
	"internal/provider": {
		"internal/service/*",
		"internal/tfkit",
		"internal/spending",
		"internal/rental",
		"internal/credentials",
	},
	"internal/service/*": {
		"internal/fleet",
		"internal/tfinstance",
		"internal/tfkit",
		"internal/market",
		"internal/lifecycle",
		"internal/spending",
		"internal/failure",
		"internal/backoff",
		"internal/rubles",
		"internal/rental",
	},
	"internal/tfinstance": {
		"internal/tfkit",
		"internal/market",
		"internal/lifecycle",
		"internal/failure",
		"internal/backoff",
		"internal/rental",
	},
	"internal/fleet": {
		"internal/market",
		"internal/lifecycle",
		"internal/spending",
		"internal/failure",
		"internal/rental",
	},
	"internal/market":    {"internal/lifecycle", "internal/failure", "internal/rental", "internal/backoff"},
	"internal/lifecycle": {"internal/spending", "internal/failure", "internal/rental", "internal/backoff"},
	"internal/spending":  {"internal/failure", "internal/rental", "internal/backoff"},
	"internal/failure":   {"internal/rental"},
	"internal/tfkit": {
		"internal/market",
		"internal/lifecycle",
		"internal/spending",
		"internal/rubles",
		"internal/rental",
		"internal/backoff",
	},
	"internal/rental/rentaltest":     {"internal/rental", "internal/backoff"},
	"internal/rental":                {"internal/backoff"},
	"internal/credentials":           {"internal/atomicfile"},
	"internal/simulator":             {"internal/contract", "internal/simulator/console", "internal/atomicfile"},
	"internal/contract/contracttest": {"internal/contract"},
	"internal/acctest":               {"internal/provider", "internal/simulator", "internal/contract/contracttest"},
	"internal/tools/*":               {"internal/tools/*"},
	"internal/tools/docgen":          {"internal/provider"},
	"internal/bench":                 {"internal/simulator", "internal/tools/*"},
	"internal/bench/control":         {"internal/provider"},
}

func TestImportRule(t *testing.T) {
	packages := 0
	for folder, files := range sources(t) {
		packages++
		for _, file := range files {
			for _, imported := range ownImports(t, file) {
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

func TestImportRule_ForbiddenPairs(t *testing.T) {
	for _, forbidden := range [][2]string{
		{"internal/simulator", "internal/rental"},
		{"internal/service/instance", "internal/service/template"},
		{"internal/service/instance", "internal/provider"},
		{"internal/rental", "internal/tfkit"},
		{"internal/lifecycle", "internal/tfkit"},
		{"internal/lifecycle", "internal/market"},
		{"internal/market", "internal/fleet"},
		{"internal/tfkit", "internal/service/instance"},
		{"internal/tfkit", "internal/tfinstance"},
		{"internal/tfinstance", "internal/service/instance"},
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

// The domain packages work on instances and requests, and do not depend on Terraform.
func TestImportRule_DomainPackages(t *testing.T) {
	domain := []string{
		"./fleet", "./market", "./lifecycle", "./spending", "./failure", "./cost", "./unmanaged", "./rubles",
	}
	output, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps"}, domain...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(output))
	if !slices.Contains(deps, module+"/internal/rental") {
		t.Fatalf("%d packages without the API client: this test reads the wrong list", len(deps))
	}
	for _, dep := range deps {
		if strings.Contains(dep, "terraform-plugin") {
			t.Errorf("%v import %s", domain, dep)
		}
	}
}

// No platform's binary contains packages for tests. TestBuiltProgram and the release rehearsal search the programs.
func TestShippedBinary_HasNoTestCode(t *testing.T) {
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for platform, packages := range all {
		ours := 0
		for _, each := range packages {
			for _, unwanted := range program.Unwanted {
				if each.ImportPath == unwanted || strings.HasPrefix(each.ImportPath, unwanted+"/") {
					t.Errorf("%s: %s is in the binary", platform, each.ImportPath)
				}
			}
			if each.Module == nil || each.Module.Path != module {
				continue // a library may import testing
			}
			ours++
			if slices.Contains(each.Imports, "testing") {
				t.Errorf("%s: %s is in the binary and imports testing", platform, each.ImportPath)
			}
		}
		if ours < 10 {
			t.Fatalf("%s: only %d packages of ours were found", platform, ours)
		}
	}
}

// sources returns the Go files of the module by folder, without tests.
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

// ownImports returns the folders of the module's packages that a file imports.
func ownImports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, name := range imports(t, parsed) {
		if folder, ok := strings.CutPrefix(name, module+"/"); ok {
			ours = append(ours, folder)
		}
	}
	return ours
}

func allowed(folder, imported string) bool {
	for from, targets := range allowedImports {
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
