package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// aClaim is a row of the tables of SECURITY.md: its number, what holds, what is not covered, the tests.
	aClaim = regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	aProof = regexp.MustCompile("\\[`(\\w+)`\\]\\(([^)\\s]+)\\)")
)

// Every claim of SECURITY.md has a test, and names none that does not exist.
func TestClaims_HaveTests(t *testing.T) {
	page := read(t, "SECURITY.md")
	claims := aClaim.FindAllStringSubmatch(page, -1)
	if rows := regexp.MustCompile(`(?m)^\| [A-Z][0-9]+ `).FindAllString(page, -1); len(rows) != len(claims) || len(claims) < 30 {
		t.Fatalf("%d claims in %d numbered rows: a row is malformed, or the tables are missing", len(claims), len(rows))
	}
	next := map[byte]int{}
	for _, claim := range claims {
		number, proofs := claim[1], aProof.FindAllStringSubmatch(claim[4], -1)
		next[number[0]]++
		if want := fmt.Sprintf("%c%d", number[0], next[number[0]]); number != want {
			t.Errorf("%s is in the place of %s", number, want)
		}
		if len(proofs) == 0 {
			t.Errorf("%s: %s: no test", number, claim[2])
		}
		for _, proof := range proofs {
			if err := provesSomething(proof[2], proof[1]); err != nil {
				t.Errorf("%s: %v", number, err)
			}
		}
		if rest := strings.Trim(aProof.ReplaceAllString(claim[4], ""), ", "); rest != "" {
			t.Errorf("%s: %q is not a test", number, rest)
		}
	}
}

// provesSomething says what is wrong with a test that is named as a proof: nil when it is there, runs and can fail.
func provesSomething(file, name string) error {
	if !strings.HasPrefix(file, "internal/") || !strings.HasSuffix(file, "_test.go") {
		return fmt.Errorf("%s is no file of tests", file)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", filepath.FromSlash(file)), nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declared := range parsed.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Name.Name != name || function.Recv != nil {
			continue
		}
		return isTest(file, function)
	}
	return fmt.Errorf("%s has no %s", file, name)
}

func isTest(file string, function *ast.FuncDecl) error {
	name, parameters := function.Name.Name, function.Type.Params.List
	want := map[bool]string{strings.HasPrefix(name, "Test"): "T", strings.HasPrefix(name, "Fuzz"): "F"}[true]
	if len(parameters) != 1 || want == "" {
		return fmt.Errorf("%s: %s is no test", file, name)
	}
	pointer, ok := parameters[0].Type.(*ast.StarExpr)
	if !ok {
		return fmt.Errorf("%s: %s is no test", file, name)
	}
	if kind, ok := pointer.X.(*ast.SelectorExpr); !ok || kind.Sel.Name != want {
		return fmt.Errorf("%s: %s is no test", file, name)
	}
	if len(function.Body.List) == 0 {
		return fmt.Errorf("%s: %s is empty", file, name)
	}
	if call, ok := function.Body.List[0].(*ast.ExprStmt); ok {
		if called, ok := call.X.(*ast.CallExpr); ok {
			if selector, ok := called.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(selector.Sel.Name, "Skip") {
				return fmt.Errorf("%s: %s is skipped", file, name)
			}
		}
	}
	return nil
}

func TestClaims_TestsAreChecked(t *testing.T) {
	for file, name := range map[string]string{
		"internal/threats_test.go": "TestClaims_Nowhere", "internal/nowhere_test.go": "TestClaims_HaveTests", "internal/house.go": "TestImportRule",
		"internal/house_test.go": "allowed", "../house_test.go": "TestImportRule", "internal/rental/main_test.go": "TestMain",
	} {
		if err := provesSomething(file, name); err == nil {
			t.Errorf("%s: %s passes for a test", file, name)
		}
	}
	for file, name := range map[string]string{"internal/house_test.go": "TestImportRule", "internal/rental/hostile_list_test.go": "FuzzAnswers"} {
		if err := provesSomething(file, name); err != nil {
			t.Error(err)
		}
	}
}
