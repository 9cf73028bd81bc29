package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// The guide "Try it without spending" shows what the demo prints, with the same steps.
func TestTranscript_HasTheSteps(t *testing.T) {
	root, err := clis.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := func(file ...string) string {
		content, err := os.ReadFile(filepath.Join(append([]string{root}, file...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	_, transcript, _ := strings.Cut(read("templates", "guides", "try-without-spending.md"), "```text\n")
	transcript, _, _ = strings.Cut(transcript, "```")
	var shown, printed []string
	for line := range strings.Lines(transcript) {
		// The names have ten characters at most; the other lines of a step are indented.
		if name := strings.TrimSpace(line[:min(10, len(line))]); name != "" {
			shown = append(shown, name)
		}
	}
	step := regexp.MustCompile(`out\.(?:step|line)\("(?:\\n)?(\w+(?: \w+)?)(?:"|  )`)
	for _, file := range []string{"main.go", "story.go"} {
		for _, name := range step.FindAllStringSubmatch(read("internal", "tools", "demo", file), -1) {
			printed = append(printed, name[1])
		}
	}
	slices.Sort(shown)
	slices.Sort(printed)
	if !slices.Equal(shown, printed) {
		t.Errorf("the guide shows the steps %q, the demo prints %q", shown, printed)
	}
}
