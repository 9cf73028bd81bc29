// Package internal_test checks rules for the whole repository.
package internal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/gpurent/terraform-provider-gpurent"

// shippedPackage is a package of the binary, as go list prints it.
type shippedPackage struct {
	ImportPath    string
	Imports, Deps []string
	Module        *struct {
		Path string
		Main bool
	}
}

// folder returns the folder of one of our packages below internal, or "" for others.
func folder(importPath string) string {
	name, _ := strings.CutPrefix(importPath, module+"/internal/")
	return strings.TrimPrefix(name, importPath)
}

// shippedPackages returns all packages of the binary for this platform.
func shippedPackages(t *testing.T) (found []shippedPackage) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,Deps,Module",
		"-tags=grpcnotrace", "..")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var each shippedPackage
		switch err := decoder.Decode(&each); {
		case errors.Is(err, io.EOF):
			return found
		case err != nil:
			t.Fatal(err)
		}
		found = append(found, each)
	}
}

// importTable returns the packages that each package may import, from the table in README.md. A star matches one
// folder.
func importTable(t *testing.T) map[string][]string {
	t.Helper()
	table := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z*/]+?)/?` \\|.*\\| ([^|;]+)[^|]*\\|$").
		FindAllStringSubmatch(read(t, "internal/README.md"), -1) {
		table[row[1]] = nil
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			table[row[1]] = append(table[row[1]], name[1])
		}
	}
	return table
}

// domain are the packages that do not depend on Terraform.
var domain = []string{"fleet", "market", "lifecycle", "spending", "cost", "unmanaged", "rental"}

// A package of the binary imports only what its row in README.md allows, backoff, and packages below its folder.
func TestImports_AsInReadme(t *testing.T) {
	table := importTable(t)
	matches := func(pattern, name string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil || strings.HasPrefix(name, pattern+"/")
	}
	seen := map[string]bool{}
	for _, each := range shippedPackages(t) {
		name := folder(each.ImportPath)
		if name == "" {
			continue
		}
		var allowed []string
		for pattern := range table {
			if matches(pattern, name) {
				seen[pattern] = true
				allowed = slices.Concat(table[pattern], []string{pattern, "backoff"})
			}
		}
		if allowed == nil {
			t.Errorf("%s is in the binary and has no row in internal/README.md", name)
		}
		onTerraform := func(dependency string) bool { return strings.Contains(dependency, "terraform-plugin") }
		if slices.Contains(domain, name) && slices.ContainsFunc(each.Deps, onTerraform) {
			t.Errorf("%s depends on Terraform", name)
		}
		for _, imported := range each.Imports {
			inner := folder(imported)
			sibling := strings.HasPrefix(name, "service/") && strings.HasPrefix(inner, "service/")
			if imported == "testing" || imported == "net/http/httptest" || inner != "" && (sibling ||
				!slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, inner) })) {
				t.Errorf("%s imports %s: the table in internal/README.md does not allow it", name, imported)
			}
		}
	}
	for pattern := range table {
		if !seen[pattern] {
			t.Errorf("internal/README.md has a row for %s, which is not in the binary", pattern)
		}
	}
}

// The binary contains exactly the reviewed modules. The release checks the binaries of all platforms: see verify.sh.
func TestModules_Reviewed(t *testing.T) {
	var reviewed, contained []string
	for line := range strings.Lines(read(t, "internal/tools/release/modules.txt")) {
		if name, _, _ := strings.Cut(line, " "); name != "#" {
			reviewed = append(reviewed, name)
		}
	}
	for _, each := range shippedPackages(t) {
		if each.Module != nil && !each.Module.Main {
			contained = append(contained, each.Module.Path)
		}
	}
	slices.Sort(contained)
	if diff := cmp.Diff(reviewed, slices.Compact(contained)); diff != "" {
		t.Errorf("modules in modules.txt and in the binary (-reviewed +contained):\n%s", diff)
	}
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
