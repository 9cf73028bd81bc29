package handbook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// compareJSON compares the JSON that a guide shows with the output of the preceding commands: the names and the types
// must be equal, the values can differ.
func (g *guideRun) compareJSON(t *testing.T, n int, b snippet) {
	t.Helper()
	if n == 0 || g.snippets[n-1].language != "sh" {
		t.Fatalf("line %d: output without a preceding command", b.line)
	}
	output, err := os.ReadFile(g.file(n-1, "out"))
	if err != nil {
		t.Fatal(err)
	}
	var shown, got any
	if err := json.Unmarshal([]byte(b.text), &shown); err != nil {
		t.Errorf("line %d: %v", b.line, err)
		return
	}
	// The guide shows the last JSON value.
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		if err := decoder.Decode(&got); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Errorf("line %d: the output of the preceding commands is not JSON: %v\n%s", b.line, err, output)
			return
		}
	}
	if difference := sameShape("", shown, got); difference != "" {
		t.Errorf("line %d: %s\n%s", b.line, difference, output)
	}
}

// sameShape returns the first difference in the structure of two JSON values, and "" for none. Null equals any value.
func sameShape(at string, shown, got any) string {
	if shown == nil || got == nil {
		return ""
	}
	switch shown := shown.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return at + " is no object"
		}
		for name := range got {
			if _, ok := shown[name]; !ok {
				return at + "." + name + " is not shown"
			}
		}
		for name, value := range shown {
			other, ok := got[name]
			if !ok {
				return at + "." + name + " does not exist"
			}
			if difference := sameShape(at+"."+name, value, other); difference != "" {
				return difference
			}
		}
	case []any:
		got, ok := got.([]any)
		if ok && len(got) == 0 && len(shown) == 0 {
			return ""
		}
		if !ok || len(got) == 0 || len(shown) == 0 {
			return at + " is an empty list, or none"
		}
		return sameShape(at+"[0]", shown[0], got[0])
	default:
		if fmt.Sprintf("%T", shown) != fmt.Sprintf("%T", got) {
			return fmt.Sprintf("%s is shown as %T and is a %T", at, shown, got)
		}
	}
	return ""
}

// compareText compares the text that a guide shows with the output of the preceding command. It ignores line breaks and
// the bars beside an error, and "…" matches any text.
func (g *guideRun) compareText(t *testing.T, n int, b snippet) {
	t.Helper()
	if n == 0 || g.snippets[n-1].language != "sh" && g.snippets[n-1].language != "yaml" {
		t.Fatalf("line %d: output without a preceding command", b.line)
	}
	var printed []string
	for _, kind := range []string{"out", "err"} {
		content, err := os.ReadFile(g.file(n-1, kind))
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, plainWords(string(content)))
	}
	rest := strings.Join(printed, " ")
	for part := range strings.SplitSeq(plainWords(b.text), "…") {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			t.Errorf("line %d: the output has no %q:\n%s", b.line, part, strings.Join(printed, "\n"))
			return
		}
		rest = after
	}
}

// plainWords returns the words of a text on one line, without colors and frames.
func plainWords(text string) string { return acctest.WithoutFrame(stripColors.Replace(text)) }
