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
)

// commentPage shows Markdown like a comment on a pull request.
const commentPage = `<!doctype html><meta charset="utf-8"><style>
:root { color-scheme: light dark; --line: light-dark(#d1d9e0, #3d444d); --soft: light-dark(#f6f8fa, #151b23); }
body { margin: 16px; font: 14px/1.5 system-ui, sans-serif; }
body { background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #f0f6fc); }
article { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
header { padding: 8px 16px; background: var(--soft); border-bottom: 1px solid var(--line); }
main { padding: 4px 16px 8px; }
table { border-collapse: collapse; }
td, th { padding: 6px 13px; border: 1px solid var(--line); }
code { padding: 2px 5px; border-radius: 6px; background: var(--soft); font: 12px ui-monospace, monospace; }
</style><article><header><b>github-actions</b> commented</header><main>`

// picturedPlan is the plan of the comment in the documentation.
const picturedPlan = `{"format_version": "1.2", "resource_changes": [
	{"address": "gpurent_instance.trainer", "mode": "managed", "type": "gpurent_instance", "change": {
		"actions": ["create"], "before": null, "after": {"type": "on_demand", "desired_state": "running", "disk_gb": 60,
			"max_price_kop_h": 9000}, "after_unknown": {}}},
	{"address": "gpurent_instance.notebook", "mode": "managed", "type": "gpurent_instance", "change": {
		"actions": ["update"], "before": {"status": "running", "type": "on_demand", "desired_state": "running",
			"price": {"running_kop_h": 4814, "stopped_kop_h": 158}},
		"after": {"type": "on_demand", "desired_state": "stopped", "max_price_kop_h": 9000}, "after_unknown": {}}},
	{"address": "gpurent_fleet.batch", "mode": "managed", "type": "gpurent_fleet", "change": {
		"actions": ["update"], "before": {"name": "batch", "size": 2, "type": "on_demand", "desired_state": "running",
			"max_price_kop_h": 5000, "max_total_kop_h": 20000, "instances": {
			"0": {"id": "ins_1", "status": "running", "running_kop_h": 4814},
			"1": {"id": "ins_2", "status": "running", "running_kop_h": 4814}}},
		"after": {"name": "batch", "size": 3, "type": "on_demand", "desired_state": "running", "max_price_kop_h": 5000,
			"max_total_kop_h": 20000}, "after_unknown": {"instances": true}}},
	{"address": "gpurent_instance.old", "mode": "managed", "type": "gpurent_instance", "change": {
		"actions": ["delete"], "before": {"status": "running", "type": "on_demand", "desired_state": "running",
			"price": {"running_kop_h": 4814, "stopped_kop_h": 158}}, "after": null, "after_unknown": {}}}
]}`

// TestImages_CostComment takes the pictures of a comment on a pull request for the documentation.
func TestImages_CostComment(t *testing.T) {
	folder := os.Getenv("GPURENT_SCREENSHOTS")
	if folder == "" {
		t.Skip("no pictures wanted: set GPURENT_SCREENSHOTS to a folder for them")
	}
	needs(t, "chromium")
	plan, err := cost.Read(strings.NewReader(picturedPlan))
	if err != nil {
		t.Fatal(err)
	}
	comment, err := cost.NewReport(plan).Markdown()
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	page.WriteString(commentPage)
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(comment), &page); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "comment.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, scheme := range map[string]string{"light": "1", "dark": "0"} {
		output, err := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
			"--hide-scrollbars", "--window-size=800,490", "--blink-settings=preferredColorScheme="+scheme,
			"--screenshot="+filepath.Join(folder, "cost-comment-"+mode+".png"), file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
}
