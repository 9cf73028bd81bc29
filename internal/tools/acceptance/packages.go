package main

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// withPackages puts every package with acceptance tests before the arguments, unless they name packages.
func withPackages(module fs.FS, arguments []string) ([]string, error) {
	if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		return arguments, nil
	}
	packages, err := packagesWithTests(module)
	if err == nil && len(packages) == 0 {
		err = errors.New("no package has acceptance tests")
	}
	return append(packages, arguments...), err
}

// packagesWithTests returns the packages of a module, as "./folder", that have
// acceptance tests, so that go test builds no others. Packages with the most test
// code come first: if a long one started last, the run would end with one busy core.
func packagesWithTests(module fs.FS) ([]string, error) {
	declared := regexp.MustCompile(`(?m)^func ` + clis.AcceptanceTests)
	size, has := map[string]int{}, map[string]bool{}
	err := fs.WalkDir(module, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skip(file)
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		content, err := fs.ReadFile(module, file)
		if err != nil {
			return err
		}
		name := "./" + path.Dir(file)
		size[name] += len(content)
		has[name] = has[name] || declared.Match(content)
		return nil
	})
	maps.DeleteFunc(has, func(_ string, tests bool) bool { return !tests })
	return slices.SortedFunc(maps.Keys(has), func(a, b string) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b))
	}), err
}

// skip leaves out the folders that Go leaves out.
func skip(folder string) error {
	name := path.Base(folder)
	if folder != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
		return fs.SkipDir
	}
	return nil
}
