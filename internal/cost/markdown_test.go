package cost_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

// inert matches a code span without characters that could end it or a table cell, or be invisible.
var inert = regexp.MustCompile("`[\\p{L}\\p{N} ._:/,+=\"\\[\\]()%-]+`")

// Names come from the configuration of a pull request. In the comment they must not become mentions, links or HTML.
func TestMarkdown_NamesAreInert(t *testing.T) {
	names := []string{
		"", "`", "``", "` @everyone `", "a|b", `a\`, `a\\`, "<script>", "<!-- x", "-->", "<b onclick=x>", "&lt;b&gt;",
		"@owner",
		"@group/team", "#1", "!1", "research/servers#1", "~label", "[text](https://evil.test)", "![x](//evil.test/x.png)",
		"https://evil.test", "www.evil.test", "a@evil.test", "*bold*", "_a_", "line\n/close\n", "\r\n\r\n# Title",
		"\u2028\u202e\u200b", "$`x`$", ":tada:", "[[_TOC_]]", "\x1b[31m", "\xff",
	}
	want := ""
	for _, name := range append([]string{"plain"}, names...) {
		text, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		quoted := string(text)
		change := func(kind, change string) string {
			return `{"address": ` + quoted + `, "mode": "managed", "type": "` + kind + `", ` + change + `}`
		}
		version := strings.Replace(quoted, `"`, `"2`, 1)
		plan := parse(t, `{"format_version": `+version+`, "resource_changes": [`+strings.Join([]string{
			change(instance, `"change": {"actions": ["create"], "after": {"max_price_kop_h": 5}}`),
			change(instance, `"deposed": `+quoted+`, "change": {"actions": ["delete"], "before": {`+runs+`}}`),
			change(instance, `"change": {"actions": [`+quoted+`], "before": {"price": {"running_kop_h": `+quoted+`}}}`),
			change("gpurent_fleet", `"change": {"actions": ["update"], "before": {"instances": {`+quoted+`: 1}},
				"after": {"template": `+quoted+`}}`),
		}, ",")+`]}`)
		report := cost.NewReport(plan)
		got := strings.ReplaceAll(inert.ReplaceAllString(report.Markdown(), "NAME"), "NAME (deposed NAME)", "NAME")
		if want == "" {
			want = got
		}
		if got != want && name != "" {
			t.Errorf("%q is not inert in the comment:\n%s\nwant\n%s", name, got, want)
		}
		if table := report.Table(); strings.ContainsAny(table, "\r\x1b\u202e") {
			t.Errorf("%q: the table has control characters: %q", name, table)
		}
	}
	if strings.Count(want, "NAME") < 12 || !strings.HasPrefix(want, "<!-- gpurent costs -->\n### Server changes\n") {
		t.Errorf("the comment is\n%s", want)
	}
}

// manyServers returns a plan with servers of different names and caps, and with a note for each.
func manyServers(t testing.TB, n int, name func(int) string) cost.Report {
	t.Helper()
	changes := make([]string, n)
	for i := range changes {
		changes[i] = changeOf(instance, name(i), fmt.Sprintf(`"actions": ["create"], "before": null, "after": {
			"type": "on_demand", "desired_state": "stopped", "disk_gb": 60, "max_price_kop_h": %d}`, 9000+i))
	}
	return reportOf(t, changes...)
}

// GitHub accepts comments of 65,536 characters. The rest is for the link of a pipeline.
func TestMarkdown_FitsAComment(t *testing.T) {
	for name, test := range map[string]struct {
		report cost.Report
		want   string
	}{
		"5,000 servers": {
			manyServers(t, 5000, func(i int) string { return fmt.Sprintf(`researchers["person-%04d"]`, i) }),
			// The most expensive ones are listed.
			`person-4999"]` + "` | create | 0.00 ₽ | up to 139.99 ₽ + disk |",
		},
		"long names": {
			manyServers(t, 200, func(i int) string { return fmt.Sprint(i) + strings.Repeat("™", 300) }), "180 more changed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := test.report.Markdown()
			if n := utf8.RuneCountInString(text); n > 65000 || !strings.Contains(text, test.want) {
				t.Errorf("%d characters: %.2000s", n, text)
			}
		})
	}
}

// The table and the comment have one line for each changed address, and the sums at the end.
func TestReport_Texts(t *testing.T) {
	kept := changeOf(instance, "kept", `"actions": ["no-op"], "before": {`+runs+`}, "after": {`+runs+`}`)
	report := reportOf(t, update(instance, runs, limited), creation(instance, limited),
		changeOf(instance, "gone", `"actions": ["delete"], "before": {`+runs+`}`), kept)
	const table = `SERVER                 CHANGE   PER HOUR NOW        PER HOUR AFTERWARDS
gpurent_instance.x     update        48.00 ₽                    48.00 ₽
gpurent_instance.x     create         0.00 ₽       up to 90.00 ₽ + disk
gpurent_instance.gone  destroy       48.00 ₽                     0.00 ₽
1 unchanged                          48.00 ₽                    48.00 ₽

"up to": the price cap, because the price is not known before the apply.
"+ disk": disk beyond the base disk of an offer, or of stopped members of a fleet, comes in addition.

per hour                            144.00 ₽      up to 186.00 ₽ + disk
per month (730 h)               105,120.00 ₽  up to 135,780.00 ₽ + disk
`
	if got := report.Table(); got != table {
		t.Errorf("the table is\n%s\nwant\n%s", got, table)
	}
	const unchanged = `<!-- gpurent costs -->
### No server changes

| server | change | price before | price after |
|---|---|---:|---:|
| 1 unchanged |  | 48.00 ₽ | 48.00 ₽ |
| **per hour** | | **48.00 ₽** | **48.00 ₽** |
| **per month (730 h)** | | **35,040.00 ₽** | **35,040.00 ₽** |

`
	if text := reportOf(t, kept).Markdown(); text != unchanged {
		t.Errorf("the comment is\n%s", text)
	}
}
