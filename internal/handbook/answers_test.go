package handbook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// compareJSON compares the JSON that a page shows with the last JSON value that the preceding command has printed: the
// names and the types must be equal, the values can differ.
func (r *reader) compareJSON(t *testing.T, n int, b snippet) {
	t.Helper()
	output, err := os.ReadFile(r.file(n-1, "out"))
	if err != nil {
		t.Fatalf("line %d: output without a preceding command: %v", b.line, err)
	}
	if difference := cmp.Diff(shapeOf(t, b.text), shapeOf(t, string(output))); difference != "" {
		t.Errorf("line %d: the page shows (-) and the command prints (+):\n%s\n%s", b.line, difference, output)
	}
}

// shapeOf returns the types in a JSON value, the last one of a text, by their place. A list has the shape of its first
// element.
func shapeOf(t *testing.T, text string) map[string]string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text[max(0, strings.LastIndex(text, "\n{")):]), &value); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	shape := map[string]string{}
	var add func(string, any)
	add = func(at string, value any) {
		shape[at] = fmt.Sprintf("%T", value)
		switch value := value.(type) {
		case map[string]any:
			for name, field := range value {
				add(at+"."+name, field)
			}
		case []any:
			if len(value) > 0 {
				add(at+"[0]", value[0])
			}
		}
	}
	add("", value)
	return shape
}

// compareText compares the text that a page shows with the output of the preceding command. It ignores line breaks and
// the bars beside an error, and "…" matches any text.
func (r *reader) compareText(t *testing.T, n int, b snippet) {
	t.Helper()
	rest := plainWords(textOf(t, r.file(n-1, "out"))) + " " + plainWords(textOf(t, r.file(n-1, "err")))
	for part := range strings.SplitSeq(plainWords(b.text), "…") {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			t.Errorf("line %d: the output has no %q after:\n%s", b.line, part, rest)
			return
		}
		rest = after
	}
}

// stripColors removes the colors from the output of a CLI.
var stripColors = strings.NewReplacer(
	"\x1b[0m", "", "\x1b[1m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[90m", "",
)

// plainWords returns the words of a text on one line, without colors and frames.
func plainWords(text string) string { return acctest.WithoutFrame(stripColors.Replace(text)) }
