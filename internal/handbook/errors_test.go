package handbook_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Diagnostics follow a convention, so that the error reference can be compared with them: every summary is a string
// constant with the prefix "summary", and only tfkit calls the functions of the framework that create diagnostics, which
// the linter forbidigo checks. tfkit links to the entry of the summary, or of the error code of the API.

const errorReference = "errors.md"

// Headings of the error reference.
const (
	sectionCodes     = "API errors"
	sectionNoCode    = "Failed requests without a code"
	sectionArguments = "Arguments"
	sectionTerraform = "Terraform and OpenTofu"
	entryLogin       = "Login codes"
)

// loginCodes have one entry.
var loginCodes = []string{
	rental.CodeAuthorizationPending, rental.CodeSlowDown, rental.CodeAccessDenied, rental.CodeExpiredToken,
}

var (
	entryPattern = regexp.MustCompile(`(?m)^### (.+)$`)
	// bulletPattern matches the messages of a list item: code spans at its begin, up to a colon.
	bulletPattern = regexp.MustCompile("(?m)^- ((?:`[^`]+`,?\\s+)*`[^`]+`):")
	// paragraphPattern matches a message at the begin of a paragraph. It has spaces, unlike the name of an argument.
	paragraphPattern = regexp.MustCompile("(?m)^(`[^`\\n]+ [^`]+`)")
	quotePattern     = regexp.MustCompile("`([^`]+)`")
	formatVerb       = regexp.MustCompile(`%(\[\d+\])?[a-z]`)
)

// errorSections returns the sections of the error reference by their heading.
func errorSections(t *testing.T) map[string]string {
	t.Helper()
	sections := map[string]string{}
	for _, section := range strings.Split(readGuide(t, errorReference), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		sections[heading] = text
	}
	return sections
}

// parsed returns the Go files below a folder, without tests.
func parsed(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	for _, name := range filesIn(t, folder, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// constants returns the values of the string constants whose names have the prefix.
func constants(files []*ast.File, prefix string) (values []string) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if value, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(value.Names[0].Name, prefix) && len(value.Values) == 1 {
				if text, ok := joined(value.Values[0]); ok {
					values = append(values, text)
				}
			}
			return true
		})
	}
	return values
}

// The error reference has an entry for each summary, to which tfkit links, and no other entries in the sections about
// diagnostics.
func TestErrors_HaveAnEntryForEachSummary(t *testing.T) {
	var summaries []string
	all := anchors(readGuide(t, errorReference))
	for _, folder := range []string{"service", "tfinstance", "tfkit", "provider"} {
		files := parsed(t, inProject("internal", folder))
		expectConstants(t, files)
		for _, summary := range constants(files, "summary") {
			if summary == "Cannot %s" { // links to the entry of the error code
				continue
			}
			summaries = append(summaries, formatVerb.ReplaceAllString(summary, "…"))
			var diags diag.Diagnostics
			tfkit.AddError(&diags, tfkit.Summaryf(summary, make([]any, strings.Count(summary, "%"))...), "")
			if _, anchor, _ := strings.Cut(diags[0].Detail(), "#"); !slices.Contains(all, anchor) {
				t.Errorf("%q links to #%s, which is no anchor of %s", summary, anchor, errorReference)
			}
		}
	}
	sections := errorSections(t)
	delete(sections, sectionCodes)
	delete(sections, sectionNoCode)
	compareEntries(t, summaries, sections)
}

// expectConstants fails the test if a summary is not a constant with the prefix.
func expectConstants(t *testing.T, files []*ast.File) {
	t.Helper()
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			function := call.Fun
			if selector, ok := function.(*ast.SelectorExpr); ok {
				function = selector.Sel
			}
			name, ok := function.(*ast.Ident)
			if summary, isName := call.Args[0].(*ast.Ident); ok && name.Name == "Summaryf" &&
				(!isName || !strings.HasPrefix(summary.Name, "summary")) {
				t.Errorf("%s: the argument of Summaryf is not a constant with the prefix summary", file.Name)
			}
			return true
		})
	}
}

// The error reference has an entry for each error code of the API and each other kind of failure.
func TestErrors_HaveAnEntryForEachFailure(t *testing.T) {
	want := append(constants(parsed(t, inProject("internal/rental")), "Code"),
		constants(parsed(t, inProject("internal/tfkit")), "entry")...)
	want = slices.DeleteFunc(want, func(entry string) bool {
		return slices.Contains(loginCodes, entry) || entry == sectionCodes
	})
	sections := errorSections(t)
	compareEntries(t, append(want, entryLogin), map[string]string{
		sectionCodes: sections[sectionCodes], sectionNoCode: sections[sectionNoCode],
	})
}

// compareEntries compares the wanted entries with those of the sections, which have each of them once.
func compareEntries(t *testing.T, want []string, sections map[string]string) {
	t.Helper()
	var got []string
	for _, section := range sections {
		for _, heading := range entryPattern.FindAllStringSubmatch(section, -1) {
			got = append(got, heading[1])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if difference := cmp.Diff(slices.Compact(want), got); difference != "" {
		t.Errorf("the program (-) and the entries of %s (+) differ:\n%s", errorReference, difference)
	}
}

// messagesIn returns the messages that the list items of a section quote, and those at the begin of its paragraphs.
func messagesIn(section string) (messages []string) {
	items := bulletPattern.FindAllStringSubmatch(section, -1)
	for _, item := range append(items, paragraphPattern.FindAllStringSubmatch(section, -1)...) {
		for _, quote := range quotePattern.FindAllStringSubmatch(item[1], -1) {
			messages = append(messages, strings.Join(strings.Fields(quote[1]), " "))
		}
	}
	return messages
}

// The messages that the error reference quotes are in the program.
func TestErrors_QuoteExistingMessages(t *testing.T) {
	program := literals(t, inProject("internal"))
	for heading, section := range errorSections(t) {
		texts := program
		if heading == sectionArguments {
			texts += validators(t)
		}
		for _, message := range messagesIn(section) {
			if heading == sectionTerraform || strings.HasPrefix(message, "Cannot ") {
				continue
			}
			message = strings.TrimPrefix(message, "Warning: ")
			// The framework adds the value to the texts of validators.
			expectParts(t, texts, heading, strings.ReplaceAll(message, ", got:", "…, got:"))
		}
	}
}

// The messages of the CLI that the error reference quotes are in the CLI.
func TestAccErrors_quoteTheCLI(t *testing.T) {
	t.Parallel()
	newCLISetup(t)
	program, err := os.ReadFile(os.Getenv("TF_ACC_TERRAFORM_PATH"))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range bulletPattern.FindAllStringSubmatch(errorSections(t)[sectionTerraform], -1) {
		quotes := quotePattern.FindAllStringSubmatch(item[1], -1)
		if !slices.ContainsFunc(quotes, func(quote []string) bool { return bytes.Contains(program, []byte(quote[1])) }) {
			t.Errorf("this CLI prints none of %s", item[1])
		}
	}
}

// literals returns the string literals of the Go files below a folder, without tests. Concatenated literals are one
// text, with an ellipsis for other expressions and for the verbs of formats.
func literals(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	for _, file := range parsed(t, folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			expression, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, isLiteral := joined(expression)
			if isLiteral {
				text = formatVerb.ReplaceAllString(strings.ReplaceAll(text, "%q", `"%s"`), "…")
				all.WriteString(strings.Join(strings.Fields(text), " ") + "\n")
			}
			return !isLiteral
		})
	}
	return all.String()
}

// joined returns the text of a literal or a concatenation. ok is false for other expressions.
func joined(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, leftOK := joined(e.X)
		right, rightOK := joined(e.Y)
		if !leftOK {
			left = "…"
		}
		if !rightOK {
			right = "…"
		}
		return left + right, e.Op == token.ADD && (leftOK || rightOK)
	}
	return "", false
}

// inserted matches the parts of a message that the code has in constants or arguments.
var inserted = regexp.MustCompile(`GPURENT_[A-Z_]+|/api/v1|\d+|"…"`)

// expectParts reports a quote whose parts between ellipses are not in the texts.
func expectParts(t *testing.T, texts, where, quote string) {
	t.Helper()
	for part := range strings.SplitSeq(inserted.ReplaceAllString(quote, "…"), "…") {
		if part = strings.Trim(part, ". "); !strings.Contains(texts, part) {
			t.Errorf("%s quotes %q: the program has no text %q", where, quote, part)
		}
	}
}

// validators returns the string literals of the modules that validate arguments.
func validators(t *testing.T) (texts string) {
	t.Helper()
	const framework = "github.com/hashicorp/terraform-plugin-framework"
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		framework+"-validators", framework+"-timeouts")
	command.Dir = acctest.Root()
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for folder := range strings.FieldsSeq(string(output)) {
		texts += literals(t, folder)
	}
	return texts
}
