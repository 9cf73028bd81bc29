package tfkit

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

var bySlug = Lookup[Named]{
	Kind: "template", Key: "slug", List: "gpurent_templates", Describe: func(n Named) Named { return n },
}

func TestLookup_Find(t *testing.T) {
	catalog := []Named{
		{"ubuntu", "Ubuntu 24.04", "catalog"},
		{"pytorch", "PyTorch 2.5", "catalog"},
		{"vllm", "vLLM server", "catalog"},
		{"mine-1", "Trainer", "me"},
		{"mine-2", "Trainer", "me"},
		{"noname", "", "me"},
		{"cafe", "Cafe\u0301", "me"},
		{"twice", "A", "one"},
		{"twice", "B", "two"},
		{"", "no slug", "me"},
	}
	const noName = "No template with this name"
	const missing = "The data source gpurent_templates lists all of them. Perhaps elsewhere."
	for name, test := range map[string]struct {
		key, name       string
		among           []Named
		found           string
		summary, detail string
	}{
		"a name":                  {name: "PyTorch 2.5", among: catalog, found: "pytorch"},
		"composed letters":        {name: "Caf\u00e9", among: catalog, found: "cafe"},
		"a key":                   {key: "vllm", among: catalog, found: "vllm"},
		"different case":          {name: "trainer", among: catalog, summary: noName, detail: missing},
		"no-break space":          {name: "PyTorch\u00a02.5", among: catalog, summary: noName, detail: missing},
		"a key instead of a name": {name: "vllm", among: catalog, summary: noName, detail: missing},
		"a name instead of a key": {
			key: "Trainer", among: catalog, summary: "No template with this slug", detail: missing,
		},
		"two with the same name": {
			name: "Trainer", among: catalog, summary: "Several templates have this name",
			detail: `Set slug instead of name, or delete what you do not need: mine-1 "Trainer" (me), mine-2 "Trainer" (me).`,
		},
		"two with the same key": {
			key: "twice", among: catalog, summary: "Several templates have this slug",
			detail: `Set name instead of slug, or delete what you do not need: twice "A" (one), twice "B" (two).`,
		},
		"no objects": {
			name: "x", summary: noName, detail: missing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			found, ok := bySlug.Find(&diags, test.key, test.name, " Perhaps elsewhere.", test.among)
			if ok != (test.found != "") || ok && found.Key != test.found || ok == diags.HasError() {
				t.Fatalf("found %t %v, %v", ok, found, diags)
			}
			if ok {
				return
			}
			argument := "name"
			if test.key != "" {
				argument = "slug"
			}
			placed, ok := diags[0].(diag.DiagnosticWithPath)
			if len(diags) != 1 || !ok || !placed.Path().Equal(path.Root(argument)) || placed.Summary() != test.summary ||
				!strings.HasPrefix(placed.Detail(), test.detail) {
				t.Fatalf("%v, want at %s: %s: %s", diags, argument, test.summary, test.detail)
			}
		})
	}
}

// A message names at most ten objects, and contains no control characters of the API.
func TestLookup_BoundsAndSanitizesMessages(t *testing.T) {
	many := slices.Repeat([]Named{{untrusted, untrusted, untrusted}}, 500)
	var diags diag.Diagnostics
	bySlug.Find(&diags, "", untrusted, "", many)
	detail := diags[0].Detail()
	if strings.ContainsAny(diags[0].Summary()+detail, "\x1b\u202e") || strings.Contains(detail, "\nError") ||
		len(detail) > 5000 || !strings.HasPrefix(detail, "Set slug") || !strings.Contains(detail, "… and 490 more") {
		t.Errorf("%d bytes: %q", len(detail), detail)
	}
}
