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
)

// acceptanceTests is a regular expression for the start of the names of acceptance tests. TestAccount does not match.
const acceptanceTests = "TestAcc[A-Z]"

var declaration = regexp.MustCompile(`(?m)^func ` + acceptanceTests)

// withPackages puts all packages with acceptance tests before the arguments, unless the arguments name packages.
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

// packagesWithTests returns the packages that have acceptance tests, as "./folder", so that go test links no others.
// Packages with the most test code come first: if a long package started last, the run would end with one busy core.
func packagesWithTests(module fs.FS) ([]string, error) {
	size, has := map[string]int{}, map[string]bool{}
	err := fs.WalkDir(module, "internal", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(module, file)
		name := "./" + path.Dir(file)
		size[name] += len(content)
		has[name] = has[name] || declaration.Match(content)
		return err
	})
	maps.DeleteFunc(has, func(_ string, tests bool) bool { return !tests })
	return slices.SortedFunc(maps.Keys(has), func(a, b string) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b))
	}), err
}
