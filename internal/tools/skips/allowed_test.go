package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

var skipCall = regexp.MustCompile(`\bt\.Skipf?\("(.*)"`)

// Each alternative of a pattern matches a test that calls Skip. A test whose text has changed would fail in CI.
func TestAllowed_PatternsMatchTexts(t *testing.T) {
	var texts strings.Builder
	root := os.DirFS("../..")
	if err := fs.WalkDir(root, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasPrefix(file, "tools/skips/") {
			return err
		}
		content, err := fs.ReadFile(root, file)
		for _, call := range skipCall.FindAllSubmatch(content, -1) {
			texts.WriteString("internal/p.TestAcc: " + string(call[1]) + "\n")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, each := range allowed {
		if strings.HasPrefix(each.pattern, "^internal/") {
			continue // the name of a test
		}
		for alternative := range strings.SplitSeq(each.pattern, "|") {
			if !regexp.MustCompile("(?i)" + alternative).MatchString(texts.String()) {
				t.Errorf("no test calls Skip with a text that matches %q", alternative)
			}
		}
	}
}
