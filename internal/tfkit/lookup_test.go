package tfkit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

var bySlug = Lookup{Kind: "template", Key: "slug", List: "gpurent_templates"}

func TestLookup_ByName(t *testing.T) {
	catalog := []Named{
		{"ubuntu", "Ubuntu 24.04", "catalog"},
		{"pytorch", "PyTorch 2.5", "catalog"},
		{"vllm", "vLLM server", "catalog"},
		{
			"mine-1",
			"Trainer",
			"me",
		},
		{"mine-2", "Trainer", "me"},
		{"noname", "", "me"},
		{"cafe", "Cafe\u0301", "me"},
		{"russian", "Обучение", "me"},
	}
	for name, test := range map[string]struct {
		wanted, found string
		summary       string
		detail        []string
	}{
		"one":              {wanted: "PyTorch 2.5", found: "pytorch"},
		"Cyrillic":         {wanted: "Обучение", found: "russian"},
		"composed letters": {wanted: "Caf\u00e9", found: "cafe"},
		"different case": {
			wanted: "trainer", summary: `No template with this name`,
			detail: []string{`Existing: ubuntu ("Ubuntu 24.04"), pytorch ("PyTorch 2.5"), `},
		},
		"two with the same name": {
			wanted: "Trainer", summary: `Several templates have this name`,
			detail: []string{"Set slug instead of name, or make the name unique:\n  mine-1 (me)\n  mine-2 (me)"},
		},
		"typo": {
			wanted: "pytroch", summary: `No template with this name`, detail: []string{`mine-2 ("Trainer")`},
		},
		"part of a name": {
			wanted: "LLM", summary: `No template with this name`, detail: []string{`vllm ("vLLM server"), `},
		},
		"name with extra words": {
			wanted: "my vllm", summary: `No template with this name`, detail: []string{`vllm (`},
		},
		"key instead of a name": {
			wanted: "vllm", summary: `No template with this name`,
			detail: []string{`It is the slug of one: set slug instead of name.`},
		},
		"no-break space": {
			wanted: "PyTorch\u00a02.5", summary: `No template with this name`,
			detail: []string{`pytorch ("PyTorch 2.5")`},
		},
		"objects without a name": {
			wanted: "no name", summary: `No template with this name`, detail: []string{"noname, "},
		},
		"hint": {
			wanted: "nothing", summary: `No template with this name`, detail: []string{"\n\nPerhaps elsewhere."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			index, ok := bySlug.ByName(&diags, test.wanted, "Perhaps elsewhere.", catalog)
			if ok != (test.found != "") || ok && catalog[index].Key != test.found || ok == diags.HasError() {
				t.Fatalf("found %t %v, %v", ok, catalog[index], diags)
			}
			if !ok {
				expectDiag(t, diags, "name", test.summary, test.detail)
			}
		})
	}
}

func expectDiag(t *testing.T, diags diag.Diagnostics, argument, summary string, detail []string) {
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

func TestLookup_NotFound(t *testing.T) {
	for name, test := range map[string]struct {
		argument, wanted string
		among            []Named
		summary          string
		detail           []string
	}{
		"no objects": {"name", "x", nil, `No template with this name`, []string{"The list of the API contains no template."}},
		"unknown key": {
			"slug", "pytroch", []Named{{"vllm", "", ""}, {"pytorch", "", ""}}, `No template with this slug`,
			[]string{"Existing: vllm, pytorch. The data source gpurent_templates lists all of them."},
		},
		"name instead of a key": {
			"slug", "Trainer", []Named{{"mine", "Trainer", "me"}}, `No template with this slug`,
			[]string{`It is the name of one: set name instead of slug.`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			if test.argument == argumentName {
				bySlug.ByName(&diags, test.wanted, "", test.among)
			} else {
				bySlug.NotFound(&diags, test.wanted, "", test.among)
			}
			expectDiag(t, diags, test.argument, test.summary, test.detail)
		})
	}
}

func TestLookup_FindByKey(t *testing.T) {
	byPrefix := Lookup{Kind: "API key", Key: "prefix", List: "gpurent_api_keys"}
	keys := []Named{
		{"test0000", "ci", "key_1"}, {"test1111", "cd", "key_2"}, {"test1111", "bot", "key_3"}, {"", "old", "key_4"},
	}
	for wanted, test := range map[string]struct {
		found   string
		summary string
		detail  string
	}{
		"test0000": {found: "ci"},
		"test1111": {
			summary: `Several API keys have this prefix`,
			detail: "Set name instead of prefix. If the names are also equal, delete each API key that you do not need:" +
				"\n  \"cd\" (key_2)\n  \"bot\" (key_3)",
		},
		"test2222": {summary: `No API key with this prefix`, detail: `test1111 ("bot"), "old". The data source`},
		"ci":       {summary: `No API key with this prefix`, detail: "It is the name of one: set name instead of prefix."},
	} {
		t.Run(wanted, func(t *testing.T) {
			var diags diag.Diagnostics
			index, ok := byPrefix.Find(&diags, wanted, "", nil, keys)
			if ok != (test.found != "") || ok && keys[index].Name != test.found || ok == diags.HasError() {
				t.Fatalf("found %t %v, %v", ok, keys[index], diags)
			}
			if !ok {
				expectDiag(t, diags, "prefix", test.summary, []string{test.detail})
			}
		})
	}
}

// A data source without an argument for the name advises the key of the object.
func TestLookup_KeyOnly(t *testing.T) {
	var diags diag.Diagnostics
	gpus := Lookup{Kind: "GPU model", Key: "slug", List: "gpurent_gpus", KeyOnly: true}
	gpus.NotFound(&diags, "RTX 4090", "", []Named{{"h100", "H100", ""}, {"rtx_4090", "RTX 4090", ""}})
	expectDiag(t, diags, "slug", `No GPU model with this slug`,
		[]string{`It is the name of one: set slug to "rtx_4090".`})
}

// If the list has entries that cannot be read, an object without a match may be one of them.
func TestLookup_FindWithSkippedEntries(t *testing.T) {
	skipped := []rental.Skipped{{ID: "tpl_1", Err: errors.New("the entry is not an object")}}
	one := []Named{{"pytorch", "PyTorch", ""}}
	for name, test := range map[string]struct {
		key, name string
		among     []Named
		detail    string // empty if it is found
	}{
		"by key":     {"pytorch", "", one, ""},
		"by name":    {"", "PyTorch", one, ""},
		"no key":     {"vllm", "", one, "lists all of them.\n\n" + string(mayBeSkipped)},
		"no name":    {"", "vLLM", one, "lists all of them.\n\n" + string(mayBeSkipped)},
		"no objects": {"vllm", "", nil, string(mayBeSkipped)},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			_, ok := bySlug.Find(&diags, test.key, test.name, skipped, test.among)
			if ok != (test.detail == "") || ok == diags.HasError() {
				t.Fatalf("found %t, %v", ok, diags)
			}
			if !ok && (!strings.Contains(diags[0].Detail(), test.detail) || strings.Contains(diags[0].Detail(), "contains no")) {
				t.Errorf("%q is not in: %s", test.detail, diags[0].Detail())
			}
		})
	}
}

// A message names at most ten objects, and contains no control characters of the API.
func TestLookup_BoundsAndSanitizesMessages(t *testing.T) {
	var many []Named
	for i := range 500 {
		many = append(many, Named{fmt.Sprintf("ins_%03d", i), "worker", "running"})
	}
	several, none := diag.Diagnostics{}, diag.Diagnostics{}
	bySlug.ByName(&several, "worker", "", many)
	bySlug.ByName(&none, "ins_", "", many)
	for _, diags := range []diag.Diagnostics{several, none} {
		detail := diags[0].Detail()
		if strings.Count(detail, "ins_") != maxListed || !strings.Contains(detail, "… and 490 more") {
			t.Errorf("want ten objects and the number of the others:\n%s", detail)
		}
	}

	var hostile diag.Diagnostics
	untrusted := "a\x1b[2J\n\nError: all is lost\u202e" + strings.Repeat("y", 5000)
	bySlug.ByName(&hostile, untrusted+"!", "", []Named{{untrusted, untrusted, untrusted}})
	bySlug.ByName(&hostile, untrusted, "", []Named{{untrusted, untrusted, untrusted}, {untrusted, untrusted, untrusted}})
	for i, lines := range []int{0, 2} {
		detail, _, _ := strings.Cut(hostile[i].Detail(), "\n\nHelp: ")
		text := hostile[i].Summary() + detail
		if strings.ContainsAny(text, "\x1b\u202e") || strings.Count(text, "\n") != lines || len(text) > 1500 {
			t.Errorf("%d bytes, with control characters, extra lines or too long: %q", len(text), text)
		}
	}
}
