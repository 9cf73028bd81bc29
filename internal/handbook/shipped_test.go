package handbook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const ourModule = "github.com/gpurent/terraform-provider-gpurent"

// unit is a package of ours, read as its compiler does.
type unit struct {
	path  string
	files []*ast.File
	info  *types.Info
	types *types.Package
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, IgnoredGoFiles []string
}

// compiler checks packages with the help of what the Go command has compiled of all others.
type compiler struct {
	fset     *token.FileSet
	mu       sync.Mutex
	importer types.Importer
	listed   []listed
}

// goCompiler asks the Go command once for all tests. Its answer is empty, with an error, where it fails.
var goCompiler = sync.OnceValues(func() (*compiler, error) {
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,IgnoredGoFiles", ".")
	command.Dir, command.Stderr = acctest.Root(), os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	c := &compiler{fset: token.NewFileSet()}
	exports := map[string]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.ImportPath == ourModule || strings.HasPrefix(p.ImportPath, ourModule+"/") {
			c.listed = append(c.listed, p)
		}
	}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c, nil
})

// check reads one package.
func (c *compiler) check(path string, files []*ast.File) (*unit, error) {
	c.mu.Lock() // the importer is for one at a time
	defer c.mu.Unlock()
	u := &unit{path: path, files: files, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
	}}
	var err error
	u.types, err = (&types.Config{Importer: c.importer}).Check(path, c.fset, files, u.info)
	return u, err
}

// read is check for a package that the Go command has listed. Files for other systems and builds cannot be checked here,
// and must say nothing to users.
func (c *compiler) read(p listed) (*unit, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	for _, name := range p.IgnoredGoFiles {
		content, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		for _, speaks := range []string{"errors.New(", "fmt.Errorf(", "Diagnostics"} {
			if strings.Contains(string(content), speaks) {
				return nil, fmt.Errorf("%s is for another system or build, and has %s: nothing holds the guide against it", name, speaks)
			}
		}
	}
	return c.check(p.ImportPath, files)
}

// theProgram is all packages of ours that are in the binary.
var theProgram = sync.OnceValues(func() (*program, error) {
	c, err := goCompiler()
	if err != nil {
		return nil, err
	}
	var units []*unit
	for _, p := range c.listed {
		u, err := c.read(p)
		if err != nil {
			return nil, err
		}
		units = append(units, u)
	}
	if len(units) < 15 {
		return nil, fmt.Errorf("only %d packages were found: this looks in the wrong place", len(units))
	}
	return newProgram(c.fset, units), nil
})

// shipped is the program that users run. It skips a test on a machine without Go.
func shipped(t *testing.T) *program {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("this reads the sources with the Go command: it is not on the PATH")
	}
	p, err := theProgram()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
