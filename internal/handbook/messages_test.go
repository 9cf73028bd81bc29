package handbook_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// goFiles returns the Go files below a folder without tests, by path.
func goFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range filesIn(t, folder, ".go") {
		if !strings.HasSuffix(name, "_test.go") {
			files[name] = textOf(t, name)
		}
	}
	return files
}

// literals returns the string literals of the Go files below a folder, without tests. Concatenated literals are one
// text, with an ellipsis for other expressions and for the verbs of formats.
func literals(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	for name, source := range goFiles(t, folder) {
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
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
