package main

import (
	"errors"
	"io/fs"
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
func packagesWithTests(module fs.FS) ([]string, error) {
	var packages []string
	err := fs.WalkDir(module, "internal", func(file string, _ fs.DirEntry, err error) error {
		name := "./" + path.Dir(file)
		if err != nil || !strings.HasSuffix(file, "_test.go") || slices.Contains(packages, name) {
			return err
		}
		content, err := fs.ReadFile(module, file)
		if declaration.Match(content) {
			packages = append(packages, name)
		}
		return err
	})
	return packages, err
}
