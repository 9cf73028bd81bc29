package handbook_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Nothing is shown to readers that is not tried. Guides and the first page are followed from top to bottom, by tests that
// name them here. What any other page shows are examples, for which provider/schema_test.go finds the tests, and the
// signatures of functions, which come from the schema.
func TestEverySnippetIsTested(t *testing.T) {
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
			if !strings.Contains(followed.String(), `"`+name+`"`) && !strings.Contains(followed.String(), `"`+name+`.tmpl"`) {
				t.Errorf("no test follows %s", name)
			}
		default:
			for _, b := range blocks(t, textOf(t, page)) {
				signature := kind == "functions" && b.language == "text"
				if !signature && !strings.Contains(examples.String(), "\x00"+strings.TrimSpace(b.text)+"\x00") {
					t.Errorf("%s/%s, line %d: no example is what it shows:\n%s", kind, name, b.line, b.text)
				}
			}
		}
	}
	if len(pages) < 30 {
		t.Errorf("only %d pages were found: this test looks in the wrong place", len(pages))
	}
}

// filesIn are the files below a folder of the project whose names end so.
func filesIn(t *testing.T, folder, end string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(acctest.Root(), folder), func(file string, entry fs.DirEntry, err error) error {
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
