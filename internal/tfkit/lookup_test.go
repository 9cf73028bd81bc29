package tfkit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

var bySlug = Lookup{Noun: "template", Key: "slug"}

func TestLookupByName(t *testing.T) {
	catalog := []Named{
		{"ubuntu", "Ubuntu 24.04", "catalog"}, {"pytorch", "PyTorch 2.5", "catalog"}, {"vllm", "vLLM server", "catalog"},
		{"mine-1", "Trainer", "me"}, {"mine-2", "Trainer", "me"}, {"noname", "", "me"}, {"cafe", "Cafe\u0301", "me"}, {"russian", "Обучение", "me"},
	}
	for name, test := range map[string]struct {
		wanted, found string
		summary       string
		detail        []string
	}{
		"one":                      {wanted: "PyTorch 2.5", found: "pytorch"},
		"not Latin":                {wanted: "Обучение", found: "russian"},
		"letters composed":         {wanted: "Caf\u00e9", found: "cafe"},
		"case counts":              {wanted: "trainer", summary: `No template is named "trainer"`, detail: []string{`There are: mine-1 ("Trainer"), mine-2 ("Trainer"), `}},
		"several":                  {wanted: "Trainer", summary: `Several templates are named "Trainer"`, detail: []string{"slug of one", "\n  mine-1 (me)\n  mine-2 (me)"}},
		"a typo":                   {wanted: "pytroch", summary: `No template is named "pytroch"`, detail: []string{`There are: pytorch ("PyTorch 2.5"), `, "mine-2"}},
		"a part":                   {wanted: "LLM", summary: `No template is named "LLM"`, detail: []string{`There are: vllm ("vLLM server"), `}},
		"more than the name":       {wanted: "my vllm", summary: `No template is named "my vllm"`, detail: []string{`There are: vllm (`}},
		"a key":                    {wanted: "vllm", summary: `No template is named "vllm"`, detail: []string{`It is the slug of one: set slug instead of name.`}},
		"what cannot be seen":      {wanted: "PyTorch\u00a02.5", summary: `No template is named "PyTorch\u00a02.5"`, detail: []string{`There are: pytorch ("PyTorch 2.5"`}},
		"things without a name":    {wanted: "no name", summary: `No template is named "no name"`, detail: []string{"There are: noname, "}},
		"where else it may be":     {wanted: "nothing", summary: `No template is named "nothing"`, detail: []string{"\n\nPerhaps elsewhere."}},
		"a name that is very long": {wanted: strings.Repeat("x", 5000), summary: "…"},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			index, ok := bySlug.ByName(&diags, test.wanted, "Perhaps elsewhere.", catalog)
			if ok != (test.found != "") || ok && catalog[index].Key != test.found || ok == diags.HasError() {
				t.Fatalf("found %t %v, %v", ok, catalog[index], diags)
			}
			if !ok {
				expectAt(t, diags, "name", test.summary, test.detail)
			}
		})
	}
}

func expectAt(t *testing.T, diags diag.Diagnostics, argument, summary string, detail []string) {
	t.Helper()
	placed, ok := diags[0].(diag.DiagnosticWithPath)
	if len(diags) != 1 || !ok || !placed.Path().Equal(path.Root(argument)) {
		t.Fatalf("%v, want one at %s", diags, argument)
	}
	if !strings.Contains(placed.Summary(), summary) || len(placed.Summary()) > 200 {
		t.Errorf("the summary is %q, want %q", placed.Summary(), summary)
	}
	for _, want := range detail {
		if !strings.Contains(placed.Detail(), want) {
			t.Errorf("%q is not in:\n%s", want, placed.Detail())
		}
	}
}

func TestLookupNoneFound(t *testing.T) {
	for name, test := range map[string]struct {
		argument, wanted string
		among            []Named
		summary          string
		detail           []string
	}{
		"nothing there":  {"name", "x", nil, `No template is named "x"`, []string{"There is no template at all."}},
		"by its key":     {"slug", "pytroch", []Named{{"vllm", "", ""}, {"pytorch", "", ""}}, `No template has the slug "pytroch"`, []string{"There are: pytorch, vllm."}},
		"a name instead": {"slug", "Trainer", []Named{{"mine", "Trainer", "me"}}, `No template has the slug "Trainer"`, []string{`It is the name of one: set name instead of slug.`}},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			if test.argument == lookupName {
				bySlug.ByName(&diags, test.wanted, "", test.among)
			} else {
				bySlug.NoneFound(&diags, test.wanted, "", test.among)
			}
			expectAt(t, diags, test.argument, test.summary, test.detail)
		})
	}
}

// Ten are told, however many there are, and texts of the service move no terminal.
func TestLookupTellsFewAndPlainly(t *testing.T) {
	var many []Named
	for i := range 500 {
		many = append(many, Named{fmt.Sprintf("ins_%03d", i), "worker", "running"})
	}
	several, none := diag.Diagnostics{}, diag.Diagnostics{}
	bySlug.ByName(&several, "worker", "", many)
	bySlug.ByName(&none, "ins_", "", many)
	for _, diags := range []diag.Diagnostics{several, none} {
		if detail := diags[0].Detail(); strings.Count(detail, "ins_") != maxTold || !strings.Contains(detail, "… and 490 more") {
			t.Errorf("not ten of them, and how many more:\n%s", detail)
		}
	}

	var hostile diag.Diagnostics
	nasty := "a\x1b[2J\n\nError: all is lost\u202e" + strings.Repeat("y", 5000)
	bySlug.ByName(&hostile, nasty+"!", "", []Named{{nasty, nasty, nasty}})
	bySlug.ByName(&hostile, nasty, "", []Named{{nasty, nasty, nasty}, {nasty, nasty, nasty}})
	for i, lines := range []int{0, 2} {
		text := hostile[i].Summary() + hostile[i].Detail()
		if strings.ContainsAny(text, "\x1b\u202e") || strings.Count(text, "\n") != lines || len(text) > 1500 {
			t.Errorf("%d characters, with what moves a terminal: %q", len(text), text)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, test := range []struct {
		one, other string
		want       int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"pytroch", "pytorch", 2}, {"ёж", "еж", 1}, {"same", "same", 0}} {
		if got, back := edits(test.one, test.other), edits(test.other, test.one); got != test.want || back != test.want {
			t.Errorf("%q and %q: %d and %d, want %d", test.one, test.other, got, back, test.want)
		}
	}
}
