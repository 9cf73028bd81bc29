// Command systems type-checks all packages and their tests for other systems, such as windows/amd64. It finds what does
// not compile there: names in files with build constraints, and constants that overflow an int of 32 bits. go vet would
// first compile all dependencies for each system, which takes minutes; this command only reads their declarations.
//
//	systems GOOS/GOARCH...
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	var problems error
	for _, system := range os.Args[1:] {
		problems = errors.Join(problems, check(system))
	}
	if problems != nil {
		fmt.Fprintln(os.Stderr, problems)
		os.Exit(1)
	}
}

// check returns the errors in the module of the working directory on a system.
func check(system string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	goos, goarch, _ := strings.Cut(system, "/")
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		ParseFile: func(set *token.FileSet, name string, source []byte) (*ast.File, error) {
			file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, root) {
				removeBodies(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return err
	}
	var problems error
	for _, each := range loaded {
		if strings.HasSuffix(each.ID, ".test") {
			continue // the generated main package of a test, without bodies
		}
		for _, problem := range each.Errors {
			problems = errors.Join(problems, fmt.Errorf("%s: %w", system, problem))
		}
	}
	return problems
}

// removeBodies reduces the file to its declarations.
func removeBodies(file *ast.File) {
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
}
