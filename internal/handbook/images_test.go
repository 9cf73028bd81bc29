package handbook_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// TestImages_CostComment takes the pictures of a comment on a pull request for the documentation.
func TestImages_CostComment(t *testing.T) {
	folder := os.Getenv("GPURENT_SCREENSHOTS")
	if folder == "" {
		t.Skip("no pictures wanted: set GPURENT_SCREENSHOTS to a folder for them")
	}
	browser := testenv.Browser(t)
	plan, err := cost.Read(strings.NewReader(textOf(t, filepath.Join("testdata", "comment-plan.json"))))
	if err != nil {
		t.Fatal(err)
	}
	comment := cost.NewReport(plan).Markdown()
	var page bytes.Buffer
	page.WriteString(textOf(t, filepath.Join("testdata", "comment.html")))
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(comment), &page); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "comment.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, scheme := range map[string]string{"light": "1", "dark": "0"} {
		output, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu",
			"--hide-scrollbars", "--window-size=800,500", "--blink-settings=preferredColorScheme="+scheme,
			"--screenshot="+filepath.Join(folder, "cost-comment-"+mode+".png"), file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
}
