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
)

// compare holds the answer that a guide shows against that of the commands before it: the names must be the same, and
// the kinds of the values. The values themselves depend on the day.
func (g *guideRun) compare(t *testing.T, n int, b block) {
	t.Helper()
	if n == 0 || g.ran[n-1].language != "sh" {
		t.Fatalf("line %d: an answer without a command before it", b.line)
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
	// The last of several answers is the one that is shown.
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		if err := decoder.Decode(&got); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Errorf("line %d: the commands before it do not answer in JSON: %v\n%s", b.line, err, output)
			return
		}
	}
	if difference := sameShape("", shown, got); difference != "" {
		t.Errorf("line %d: %s\n%s", b.line, difference, output)
	}
}

// sameShape says where two JSON values differ in more than their values; "" means nowhere. Null stands for any value.
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

// said holds what a guide shows a program to print against what the command before it has printed. What stands for
// itself are the words: neither where the lines break nor the bars beside an error count, and "…" stands for anything.
func (g *guideRun) said(t *testing.T, n int, b block) {
	t.Helper()
	if n == 0 || g.ran[n-1].language != "sh" && g.ran[n-1].language != "yaml" {
		t.Fatalf("line %d: an answer without a command before it", b.line)
	}
	var printed []string
	for _, kind := range []string{"out", "err"} {
		content, err := os.ReadFile(g.file(n-1, kind))
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, wordsOf(string(content)))
	}
	rest := strings.Join(printed, " ")
	for part := range strings.SplitSeq(wordsOf(b.text), "…") {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			t.Errorf("line %d: it does not say %q:\n%s", b.line, part, strings.Join(printed, "\n"))
			return
		}
		rest = after
	}
}

// wordsOf is a text on one line. Spaces that do not break are spaces.
func wordsOf(text string) string {
	var words []string
	for word := range strings.FieldsSeq(uncoloured.Replace(text)) {
		if word != "│" && word != "╷" && word != "╵" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
