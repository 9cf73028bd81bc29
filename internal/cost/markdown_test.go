package cost_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

func comment(t testing.TB, report cost.Report) string {
	t.Helper()
	text, err := report.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// inert matches a code span without characters that could end it or a table cell, or be invisible.
var inert = regexp.MustCompile("`[\\p{L}\\p{N} ._:/,+=\"\\[\\]()%-]+`")

// Names come from the configuration of a pull request. In the comment they must not become mentions, links or HTML.
func TestMarkdown_NamesAreInert(t *testing.T) {
	names := []string{
		"", "`", "``", "` @everyone `", "a|b", `a\`, `a\\`, "<script>", "<!-- x", "-->", "<b onclick=x>", "&lt;b&gt;",
		"@owner",
		"@group/team", "#1", "!1", "research/servers#1", "~label", "[text](https://evil.test)", "![x](//evil.test/x.png)",
		"https://evil.test", "www.evil.test", "a@evil.test", "*bold*", "_a_", "line\n/close\n", "\r\n\r\n# Title",
		"\u2028\u202e\u200b", "$`x`$", ":tada:", "[[_TOC_]]", "\n<!-- gpurent cost: W10= -->\n", "\x1b[31m", "\xff",
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
			change("gpurent_api_key", `"change": {"actions": ["create"],
				"after": {"scopes": [`+quoted+`], "expires_in_days": `+quoted+`}}`),
			change("gpurent_ssh_key", `"change": {"actions": ["create"], "after": {"fingerprint": `+quoted+`}}`),
			change("gpurent_fleet", `"change": {"actions": ["update"], "before": {"instances": {`+quoted+`: 1}},
				"after": {"template": `+quoted+`}}`),
			change("other", `"change": {"actions": ["create"]}`),
			`{"address": ` + quoted + `, "mode": "managed", "type": "gpurent_` + quoted[1:] +
				`, "change": {"actions": ["create"]}}`,
		}, ",")+`], "resource_drift": [`+change(instance, `"change": {"actions": ["delete"], "before": {`+runs+`}}`)+`],
			"action_invocations": [{"address": `+quoted+`, "type": "gpurent_instance_start",
				"config_values": {"instance_id": "ins_1"}}]}`)
		report := cost.NewReport(plan)
		report.Differences = cost.Compare(cost.Report{}, report)
		text2, hidden, _ := strings.Cut(comment(t, report), "<!-- gpurent cost: ")
		if !regexp.MustCompile(`^[A-Za-z0-9+/=]+ -->\n$`).MatchString(hidden) {
			t.Errorf("%q: the comment ends with %q", name, hidden)
		}
		got := strings.ReplaceAll(inert.ReplaceAllString(text2, "NAME"), "NAME (deposed NAME)", "NAME")
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
	if strings.Count(want, "NAME") < 20 || !strings.HasPrefix(want, "<!-- gpurent costs -->\n### Server changes\n") {
		t.Errorf("the comment is\n%s", want)
	}
}

// Everyone who can read the pull request can decode the list. It has no sensitive values.
func TestMarkdown_HasNoSensitiveValues(t *testing.T) {
	for _, file := range recordedFiles(t) {
		if !strings.Contains(file, "sensitive") {
			continue
		}
		report := cost.NewReport(readPlan(t, file))
		data, err := report.JSON()
		if err != nil {
			t.Fatal(err)
		}
		all := data + comment(t, report) + report.Table()
		for _, secret := range []string{"hunter2", "4321", "43.21"} {
			if strings.Contains(all, secret) {
				t.Errorf("%s: the report contains %q:\n%s", file, secret, all)
			}
		}
		if strings.Count(data, `"(sensitive)"`) != 2 || !strings.Contains(data, "ubuntu:24.04") {
			t.Errorf("%s: the report is\n%s", file, data)
		}
	}
}

// manyServers returns a plan with servers of different names, queries and caps.
func manyServers(t testing.TB, n int, name func(int) string) cost.Report {
	t.Helper()
	changes := make([]string, n)
	for i := range changes {
		changes[i] = changeOf(instance, name(i), fmt.Sprintf(`"actions": ["create"], "before": null, "after": {
			"name": "r%d", "template": "pytorch", "type": "on_demand", "disk_gb": %d, "max_price_kop_h": %d,
			"ssh_key_ids": ["key_1", "key_2"], "offer_query": {"gpu": ["rtx_4090"], "num_gpus": [1], "country": null}},
			"after_unknown": {"image": true}`, i, 60+i%7, 9000+i))
	}
	return reportOf(t, changes...)
}

// GitHub accepts comments of 65,536 characters. The rest is for the link of a pipeline.
func TestMarkdown_FitsAComment(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(int) string {
		return fmt.Sprintf("%x%x%x%x", random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64())
	}
	for name, test := range map[string]struct {
		report cost.Report
		want   string
		guard  string
	}{
		"1,000 servers": {
			manyServers(t, 1000, func(i int) string { return fmt.Sprintf(`researchers["person-%04d"]`, i) }),
			// The most expensive ones are listed.
			`person-0999"]` + "` | create | 0.00 ₽ | up to 99.99 ₽ + disk |", "",
		},
		"too many": {manyServers(t, 5000, noise), "`--reviewed` refuses this plan", "create is not in the review"},
		"long names": {
			manyServers(t, 100, func(i int) string { return strings.Repeat("длинно", 300) + fmt.Sprint(i) }),
			"more changes", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := comment(t, test.report)
			t.Logf("%d characters", utf8.RuneCountInString(text))
			if n := utf8.RuneCountInString(text); n > 65000 || !strings.Contains(text, test.want) {
				t.Errorf("%d characters: %.2000s", n, text)
			}
			expectRefused(t, differences(t, test.report, test.report), test.guard)
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


<!-- gpurent cost: `
	if text := comment(t, reportOf(t, kept)); !strings.HasPrefix(text, unchanged) {
		t.Errorf("the comment is\n%s", text)
	}
}

// A comment that just fits leaves room for the link of a pipeline.
func TestMarkdown_LeavesRoom(t *testing.T) {
	longest := 0
	for length := 530; length < 570; length++ {
		text := comment(t, manyServers(t, 100, func(i int) string { return strings.Repeat("x", length) + fmt.Sprint(i) }))
		longest = max(longest, utf8.RuneCountInString(text))
	}
	if longest < 64000 || longest > 65000 {
		t.Errorf("the longest comment has %d characters", longest)
	}
}
