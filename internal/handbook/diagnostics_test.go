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
// string constant with the prefix "summary" in a file diagnostics.go, and only that file creates diagnostics.

// diagnosticsFile is the file of a package that declares its summaries and creates its diagnostics.
const diagnosticsFile = "diagnostics.go"

// summaryArgument is the position of the summary in the calls that create diagnostics.
var summaryArgument = map[string]int{
	"AddError":                      0,
	"AddWarning":                    0,
	"AddAttributeError":             1,
	"AddAttributeWarning":           1,
	"NewErrorDiagnostic":            0,
	"NewWarningDiagnostic":          0,
	"NewAttributeErrorDiagnostic":   1,
	"NewAttributeWarningDiagnostic": 1,
}

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
				if n.Tok == token.CONST && filepath.Base(name) == diagnosticsFile {
					summaries = append(summaries, constants(n, "summary")...)
				}
			case *ast.CallExpr:
				if problem := checkCall(name, n); problem != "" {
					problems = append(problems, fmt.Sprintf("%s: %s", fset.Position(n.Pos()), problem))
				}
			}
			return true
		})
	}
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

// checkCall returns what is wrong with a call that creates a diagnostic, and nothing for other calls. tfkit.AddError
// converts an error of the API: its summaries are in tfkit.
func checkCall(file string, call *ast.CallExpr) string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	position, creates := summaryArgument[method.Sel.Name]
	if of, ok := method.X.(*ast.Ident); !creates || ok && of.Name == "tfkit" {
		return ""
	}
	if filepath.Base(file) != diagnosticsFile {
		return "only " + diagnosticsFile + " creates diagnostics"
	}
	literal := false
	if position < len(call.Args) {
		ast.Inspect(call.Args[position], func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			literal = literal || ok && text.Kind == token.STRING
			return true
		})
	}
	if literal {
		return "the summary is not a constant"
	}
	return ""
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
		"const summaryFailed = \"Cannot %s\"\n" +
		"func f(id string) { diags.AddError(fmt.Sprintf(summaryGone, id), \"Any detail\") }\n"
	const guide = "| `Error: Instance … is gone` | | |\n| `Error: Cannot create instance`, `Warning: Cannot…` | | |\n"
	for name, test := range map[string]struct {
		name, source, guide string
		want                []string
	}{
		"the convention": {"x/diagnostics.go", declared, guide, nil},
		"a translated API error": {
			"x/resource.go", head + `func f() { tfkit.AddError(&diags, "read instance", err) }`, "", nil,
		},
		"no row":   {"x/diagnostics.go", declared, "| `Error: Cannot rent` |", []string{`not quote the summary "Inst`}},
		"no const": {"x/diagnostics.go", declared, guide + "| `Warning: New` |", []string{`"New", which is no summary`}},
		"a constant in another file": {
			"x/plan.go", head + `const summaryGone = "It is gone"`, "| `Error: It is gone` |", []string{"no summary"},
		},
		"a call in another file": {
			"x/plan.go", head + `func f() { diags.AddAttributeWarning(at, gone, "") }`, "", []string{"only diagnostics.go"},
		},
		"a constructor in another file": {
			"x/plan.go", head + `var d = diag.NewErrorDiagnostic(summaryGone, "")`, "", []string{"only diagnostics.go"},
		},
		"a literal": {
			"x/diagnostics.go", head + `func f() { diags.AddAttributeError(at, "Gone", "") }`, "", []string{"not a constant"},
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
