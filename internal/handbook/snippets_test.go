package handbook_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Tests run every snippet of the documentation. Tests of this package follow the guides and the index page. Other
// pages show examples, which provider/schema_test.go assigns to tests, and signatures of functions from the schema.
func TestSnippets_AllAreTested(t *testing.T) {
	var followed, examples strings.Builder
	for _, end := range []string{"_acc_test.go", "simulator_guide_test.go"} {
		for _, file := range filesIn(t, "internal/handbook", end) {
			followed.WriteString(textOf(t, file))
		}
	}
	for _, file := range filesIn(t, "examples", "") {
		examples.WriteString("\x00" + strings.TrimSpace(textOf(t, file)) + "\x00")
	}
	pages := filesIn(t, "docs", ".md")
	for _, page := range pages {
		name := filepath.Base(page)
		switch kind := filepath.Base(filepath.Dir(page)); kind {
		case "guides", "docs":
			commands := strings.Contains(textOf(t, page), "\n```sh\n")
			if commands && !strings.Contains(followed.String(), `"`+name) {
				t.Errorf("no test follows %s", name)
			}
		default:
			for _, b := range parseSnippets(t, textOf(t, page)) {
				signature := kind == "functions" && b.language == "text"
				if !signature && !strings.Contains(examples.String(), "\x00"+strings.TrimSpace(b.text)+"\x00") {
					t.Errorf("%s/%s, line %d: no example equals the snippet:\n%s", kind, name, b.line, b.text)
				}
			}
		}
	}
	if len(pages) < 30 {
		t.Errorf("only %d pages were found", len(pages))
	}
}

// demoStep matches a step of the demo. Its groups are the name and what the CLI prints.
var demoStep = regexp.MustCompile(`(?m)^step '?([a-z ]+?)'? '([^']+)'`)

// The guide "Try it without spending" shows the steps of make demo, which compares what they print.
func TestDemo_IsAsShown(t *testing.T) {
	guide := readGuide(t, "try-without-spending.md")
	for _, step := range demoStep.FindAllStringSubmatch(textOf(t, filepath.Join(acctest.Root(), "internal/tools/demo/story.sh")), -1) {
		if line := fmt.Sprintf("\n%-10s %s", step[1], step[2]); !strings.Contains(guide, line) {
			t.Errorf("the guide has no line %q", line)
		}
	}
}

// filesIn returns the files below a folder whose names have the suffix. A relative folder is in the project.
func filesIn(t *testing.T, folder, end string) []string {
	t.Helper()
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(acctest.Root(), folder)
	}
	var found []string
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(file, end) {
			found = append(found, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
