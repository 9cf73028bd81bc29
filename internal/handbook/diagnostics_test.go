package handbook_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Diagnostics follow a convention, so that the error reference can be compared with them: every summary is a string
// constant with the prefix "summary" in a file diagnostics.go, and only that file, or diagnostics_*.go of the same
// package, creates diagnostics, with the functions of tfkit, which sanitize texts and link to the reference.
// tfkit.AddAPIError may be called anywhere: it links to the entry of the error code.

// isDiagnostics reports whether a file may declare summaries and create diagnostics.
func isDiagnostics(file string) bool {
	return filepath.Base(file) == "diagnostics.go" || strings.HasPrefix(filepath.Base(file), "diagnostics_")
}

// rawDiagnostics are the methods and functions of the framework that create diagnostics.
var rawDiagnostics = regexp.MustCompile(`^(Add|New)(Attribute)?(Error|Warning)(Diagnostic)?$`)

// summariesIn returns the summaries that a Go file declares, and its violations of the convention.
func summariesIn(t *testing.T, name, source string) (summaries, problems []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if n.Tok == token.CONST && isDiagnostics(name) {
				summaries = append(summaries, constants(n, "summary")...)
			}
		case *ast.CallExpr:
			if problem := checkCall(name, n); problem != "" {
				problems = append(problems, fset.Position(n.Pos()).String()+": "+problem)
			}
		}
		return true
	})
	return summaries, problems
}

// checkCall returns what is wrong with a call that creates a diagnostic, and nothing for other calls.
func checkCall(file string, call *ast.CallExpr) string {
	of, function := calledFunction(call)
	switch {
	case strings.HasSuffix(filepath.ToSlash(file), "internal/tfkit/summary.go"):
		return ""
	case function == "Summaryf" && (len(call.Args) == 0 || !isSummary(call.Args[0])):
		return "the summary is not a constant with the prefix summary"
	case !rawDiagnostics.MatchString(function):
		return ""
	case of != "tfkit" && of != "":
		return "only tfkit calls the framework's " + function
	case !isDiagnostics(file):
		return "only diagnostics.go creates diagnostics"
	}
	return ""
}

func isSummary(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && strings.HasPrefix(name.Name, "summary")
}

// calledFunction returns the name of the function that a call names, and the expression before its dot, if that is a
// name. of is "." for any other expression and empty without a dot.
func calledFunction(call *ast.CallExpr) (of, function string) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return "", f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name, f.Sel.Name
		}
		return ".", f.Sel.Name
	}
	return "", ""
}

// constants returns the values of the string constants in a declaration whose names have the prefix.
func constants(declaration *ast.GenDecl, prefix string) (values []string) {
	for _, spec := range declaration.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(value.Names[0].Name, prefix) || len(value.Values) != 1 {
			continue
		}
		if literal, ok := value.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				values = append(values, text)
			}
		}
	}
	return values
}

func TestSummariesIn(t *testing.T) {
	const head = "package p\n"
	for name, test := range map[string]struct{ file, source, problem string }{
		"the convention": {
			"x/diagnostics.go",
			`const summaryGone = "Gone"; func f() { tfkit.AddError(d, tfkit.Summaryf(summaryGone), "") }`, "",
		},
		"a failed request":     {"x/resource.go", `func f() { tfkit.AddAPIError(d, "read it", err) }`, ""},
		"a call elsewhere":     {"x/plan.go", `func f() { tfkit.AddWarning(d, gone, "") }`, "only diagnostics.go"},
		"the framework":        {"x/diagnostics.go", `func f() { resp.Diagnostics.AddError(gone, "") }`, "only tfkit"},
		"its constructors":     {"x/plan.go", `var d = diag.NewErrorDiagnostic(summaryGone, "")`, "only tfkit"},
		"a literal":            {"x/diagnostics.go", `func f() { tfkit.Summaryf("Gone") }`, "not a constant"},
		"an unlisted name":     {"x/diagnostics.go", `func f() { tfkit.Summaryf(gone) }`, "not a constant"},
		"a constant elsewhere": {"x/plan.go", `const summaryGone = "Gone"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			summaries, problems := summariesIn(t, test.file, head+test.source)
			if len(problems) > 1 || strings.Join(problems, "") != "" != (test.problem != "") ||
				len(problems) == 1 && !strings.Contains(problems[0], test.problem) {
				t.Errorf("got the problems %q, want %q", problems, test.problem)
			}
			if want := strings.Count(name, "the convention"); len(summaries) != want {
				t.Errorf("got the summaries %q, want %d", summaries, want)
			}
		})
	}
}
