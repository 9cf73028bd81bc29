package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	committed, fresh := t.TempDir(), t.TempDir()
	write := func(folder, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "index.md"), []byte(content), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	write(committed, "old\n")
	write(fresh, "new\n")
	if err := compare(t.Context(), committed, fresh); err == nil || !strings.Contains(err.Error(), "+new") {
		t.Errorf("%v, want the difference", err)
	}
	write(committed, "new\n")
	if err := compare(t.Context(), committed, fresh); err != nil {
		t.Error("current documents:", err)
	}
	if err := compare(t.Context(), filepath.Join(committed, "missing"), fresh); err == nil {
		t.Error("no error without documents")
	}
}

func TestWithoutRepeats(t *testing.T) {
	schema := func(name, attributes string) string {
		return "<a id=\"nestedatt--" + name + "\"></a>\n### Nested Schema for `" + name + "`\n\n" + attributes + "\n\n\n"
	}
	page := "# Page\n\n" + schema("fallbacks", "- `gpu`") + schema("other", "- `port`") + schema("query", "- `gpu`") +
		"## Import\n"
	want := strings.Replace(page, "- `gpu`\n\n\n", "The same attributes as [`query`](#nestedatt--query).\n\n", 1)
	if got := withoutRepeats(page); got != want {
		t.Errorf("%s, want:\n%s", got, want)
	}
}
