package handbook_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Diagnostics follow a convention, so that the troubleshooting guide can be compared with them: every summary is a
// string constant with the prefix "summary" in a file diagnostics.go, and only that file, or diagnostics_*.go of the
// same package, creates diagnostics, with the functions of tfkit, which sanitize texts. tfkit.AddAPIError may be called
// anywhere: its summary is "Cannot" and the action.

// isDiagnostics reports whether a file may declare summaries and create diagnostics.
func isDiagnostics(file string) bool {
	return filepath.Base(file) == "diagnostics.go" || strings.HasPrefix(filepath.Base(file), "diagnostics_")
}

// summaryCannot is the summary of tfkit.AddAPIError. The guide has a row for each action.
const summaryCannot = "Cannot %s"

// summaryArgument is the position of the summary in the functions of tfkit that create diagnostics.
var summaryArgument = map[string]int{
	"AddError":            1,
	"AddWarning":          1,
	"AddAttributeError":   2,
	"AddAttributeWarning": 2,
}

// rawDiagnostics are the methods and functions of the framework that create diagnostics.
var rawDiagnostics = regexp.MustCompile(`^(Add|New)(Attribute)?(Error|Warning)(Diagnostic)?$`)

var (
	formatVerb = regexp.MustCompile(`%(\[\d+\])?[a-z]`)
	// inQuotes matches the quote of a diagnostic in the guide. Its group is the summary.
	inQuotes = regexp.MustCompile("`(?:Error|Warning): ([^`]+)`")
)

// checkDiagnostics returns the violations of the convention in Go files (path to source), and the differences between
// their summaries and those that the guide quotes.
func checkDiagnostics(t *testing.T, files map[string]string, guide string) (problems []string) {
	t.Helper()
	fset := token.NewFileSet()
	var summaries []string
	for name, source := range files {
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
					problems = append(problems, fmt.Sprintf("%s: %s", fset.Position(n.Pos()), problem))
				}
				if _, function := calledFunction(n); strings.HasPrefix(function, "AddAPIError") && len(n.Args) > 1 {
					for _, action := range literalsIn(n.Args[1]) {
						summaries = append(summaries, fmt.Sprintf(summaryCannot, action))
					}
				}
			}
			return true
		})
	}
	summaries = slices.DeleteFunc(summaries, func(summary string) bool { return summary == summaryCannot })
	var quoted []string
	for _, quote := range inQuotes.FindAllStringSubmatch(guide, -1) {
		quoted = append(quoted, quote[1])
	}
	for _, summary := range summaries {
		if !slices.ContainsFunc(quoted, func(quote string) bool { return quotes(quote, summary) }) {
			problems = append(problems, fmt.Sprintf("the guide does not quote the summary %q", summary))
		}
	}
	for _, quote := range quoted {
		if !slices.ContainsFunc(summaries, func(summary string) bool { return quotes(quote, summary) }) {
			problems = append(problems, fmt.Sprintf("the guide quotes %q, which is no summary", quote))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// checkCall returns what is wrong with a call that creates a diagnostic, and nothing for other calls.
func checkCall(file string, call *ast.CallExpr) string {
	of, function := calledFunction(call)
	if !rawDiagnostics.MatchString(function) {
		return ""
	}
	if strings.HasSuffix(filepath.ToSlash(file), "internal/tfkit/summary.go") {
		return ""
	}
	if of != "tfkit" && of != "" {
		return "only tfkit calls the framework's " + function
	}
	if !isDiagnostics(file) {
		return "only diagnostics.go creates diagnostics"
	}
	if position := summaryArgument[function]; position < len(call.Args) && len(literalsIn(call.Args[position])) > 0 {
		return "the summary is not a constant"
	}
	return ""
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

// literalsIn returns the string literals in an expression.
func literalsIn(e ast.Expr) (texts []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
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

// quotes reports whether a quote in the guide is of a summary. A verb of the summary and an ellipsis of the quote match
// any text.
func quotes(quote, summary string) bool {
	anyText := func(text, gap string) *regexp.Regexp {
		return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), gap, ".+") + "$")
	}
	plain := formatVerb.ReplaceAllString(summary, "…")
	return anyText(plain, "…").MatchString(quote) || anyText(quote, "…").MatchString(plain)
}

// diagnosticsAndCommands divides the troubleshooting guide into the messages of diagnostics and those of the commands
// login and logout and of the program's log, which are not diagnostics.
func diagnosticsAndCommands(t *testing.T) (diagnostics, commands string) {
	t.Helper()
	const discarded = "`Warning: terraform-provider-gpurent discards what Go libraries log…`"
	before, rest, found := strings.Cut(readGuide(t, troubleshooting), "\n### login and logout\n")
	commands, after, ends := strings.Cut(rest, "\n### ")
	if !found || !ends {
		t.Fatal("the guide has no section about login and logout")
	}
	return strings.Replace(before, discarded, "", 1) + after, commands
}

// The troubleshooting guide quotes the summary of every diagnostic.
func TestDiagnostics_HaveRows(t *testing.T) {
	files := map[string]string{}
	for _, folder := range []string{"internal/service", "internal/tfkit", "internal/provider"} {
		maps.Copy(files, goFiles(t, folder))
	}
	guide, _ := diagnosticsAndCommands(t)
	for _, problem := range checkDiagnostics(t, files, guide) {
		t.Error(problem)
	}
}

func TestDiagnostics_ProblemsAreFound(t *testing.T) {
	const head = "package p\n"
	const declared = head + "const (\n\tsummaryGone = \"Instance %s is gone\"\n\tother = \"Other\"\n)\n" +
		"const summaryFull = \"Disk full\"\n" +
		"func f(id string) { tfkit.AddError(diags, tfkit.Textf(summaryGone, id), \"Any detail\") }\n"
	const guide = "| `Error: Instance … is gone` | | |\n| `Error: Other disk`, `Warning: Disk full` | | |\n"
	const matching = "| `Error: Instance … is gone`, `Error: Disk full` |"
	const apiError = head + `func f() { tfkit.AddAPIError(&diags, tfkit.Textf("read instance %s", id), err) }`
	for name, test := range map[string]struct {
		name, source, guide string
		want                []string
	}{
		"the convention":   {"x/diagnostics.go", declared, matching, nil},
		"an API error":     {"x/resource.go", apiError, "`Error: Cannot read instance …`", nil},
		"an unknown error": {"x/resource.go", apiError, "", []string{`not quote the summary "Cannot read`}},
		"no row":           {"x/diagnostics.go", declared, "| `Error: Disk full` |", []string{`not quote the summary "Inst`}},
		"no constant":      {"x/diagnostics.go", declared, guide, []string{`"Other disk", which is no summary`}},
		"a constant in another file": {
			"x/plan.go", head + `const summaryGone = "It is gone"`, "| `Error: It is gone` |", []string{"no summary"},
		},
		"a call in another file": {
			"x/plan.go", head + `func f() { tfkit.AddAttributeWarning(diags, at, gone, "") }`, "",
			[]string{"only diagnostics.go"},
		},
		"a method of the framework": {
			"x/diagnostics.go", head + `func f() { resp.Diagnostics.AddError(gone, "") }`, "", []string{"only tfkit"},
		},
		"a constructor of the framework": {
			"x/plan.go", head + `var d = diag.NewErrorDiagnostic(summaryGone, "")`, "", []string{"only tfkit"},
		},
		"a literal": {
			"x/diagnostics.go", head + `func f() { tfkit.AddAttributeError(diags, at, "Gone", "") }`, "",
			[]string{"not a constant"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := checkDiagnostics(t, map[string]string{test.name: test.source}, test.guide)
			if len(got) != len(test.want) || len(got) > 0 && !strings.Contains(got[0], test.want[0]) {
				t.Errorf("got the problems %q, want %q", got, test.want)
			}
		})
	}
}
