package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// claimRow matches a row of the tables in SECURITY.md: the number, the claim, the limits, the tests.
	claimRow = regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	// citedTest matches a test with its package, which is the name of its folder.
	citedTest = regexp.MustCompile("^`(\\w+\\.\\w+)`$")
)

// Every claim in SECURITY.md names at least one test, and the named tests exist.
func TestClaims_HaveTests(t *testing.T) {
	page := read(t, "SECURITY.md")
	claims := claimRow.FindAllStringSubmatch(page, -1)
	rows := regexp.MustCompile(`(?m)^\| [A-Z][0-9]+ `).FindAllString(page, -1)
	if len(rows) != len(claims) || len(claims) < 30 {
		t.Fatalf("%d claims in %d numbered rows: a row is malformed, or a table is missing", len(claims), len(rows))
	}
	tests := testFunctions(t)
	next := map[byte]int{}
	for _, claim := range claims {
		number := claim[1]
		next[number[0]]++
		if want := fmt.Sprintf("%c%d", number[0], next[number[0]]); number != want {
			t.Errorf("%s is in the place of %s", number, want)
		}
		for cited := range strings.SplitSeq(claim[4], ", ") {
			match := citedTest.FindStringSubmatch(cited)
			if match == nil {
				t.Errorf("%s: %q is not a test", number, cited)
				continue
			}
			if err := checkCited(tests, match[1]); err != nil {
				t.Errorf("%s: %v", number, err)
			}
		}
	}
}

// testFunctions returns the functions in test files, by folder and name. Two tests with the same ones are an error,
// because a citation would be ambiguous.
func testFunctions(t *testing.T) map[string]*ast.FuncDecl {
	t.Helper()
	functions := map[string]*ast.FuncDecl{}
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		folder, err := filepath.Abs(filepath.Dir(file))
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range parsed.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || function.Recv != nil {
				continue
			}
			name := filepath.Base(folder) + "." + function.Name.Name
			if ambiguous := strings.HasPrefix(function.Name.Name, "Test"); ambiguous && functions[name] != nil {
				return fmt.Errorf("there are two tests %s", name)
			}
			functions[name] = function
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return functions
}

// checkCited returns an error if a cited test does not exist, is empty or is skipped.
func checkCited(tests map[string]*ast.FuncDecl, cited string) error {
	function, ok := tests[cited]
	if !ok {
		return fmt.Errorf("%s does not exist", cited)
	}
	return isTest(cited, function)
}

func isTest(cited string, function *ast.FuncDecl) error {
	name, parameters := function.Name.Name, function.Type.Params.List
	want := map[bool]string{strings.HasPrefix(name, "Test"): "T", strings.HasPrefix(name, "Fuzz"): "F"}[true]
	if len(parameters) != 1 || want == "" {
		return fmt.Errorf("%s is not a test", cited)
	}
	pointer, ok := parameters[0].Type.(*ast.StarExpr)
	if !ok {
		return fmt.Errorf("%s is not a test", cited)
	}
	if kind, ok := pointer.X.(*ast.SelectorExpr); !ok || kind.Sel.Name != want {
		return fmt.Errorf("%s is not a test", cited)
	}
	if len(function.Body.List) == 0 {
		return fmt.Errorf("%s is empty", cited)
	}
	if call, ok := function.Body.List[0].(*ast.ExprStmt); ok {
		if called, ok := call.X.(*ast.CallExpr); ok {
			if selector, ok := called.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(selector.Sel.Name, "Skip") {
				return fmt.Errorf("%s is skipped", cited)
			}
		}
	}
	return nil
}

func TestCheckCited(t *testing.T) {
	tests := testFunctions(t)
	for _, cited := range []string{
		"internal.TestClaims_Nowhere", "nowhere.TestClaims_HaveTests", "internal.allowed", "rental.TestMain",
	} {
		if err := checkCited(tests, cited); err == nil {
			t.Errorf("%s: no error", cited)
		}
	}
	for _, cited := range []string{"internal.TestImportRule", "rental.FuzzAnswers"} {
		if err := checkCited(tests, cited); err != nil {
			t.Error(err)
		}
	}
}
