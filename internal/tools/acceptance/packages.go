package main

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// packagesWithTests are the packages below a module's folder, as "./folder",
// that have a test whose name is that of one. Handing go test these only
// spares it from building every other test of the module.
func packagesWithTests(module fs.FS) ([]string, error) {
	declared := regexp.MustCompile(`(?m)^func ` + clis.AcceptanceTests)
	var packages []string
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
		if declared.Match(content) {
			packages = append(packages, "./"+path.Dir(file))
		}
		return nil
	})
	slices.Sort(packages)
	return slices.Compact(packages), err
}

// skip leaves out the folders that Go leaves out.
func skip(folder string) error {
	name := path.Base(folder)
	if folder != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
		return fs.SkipDir
	}
	return nil
}
