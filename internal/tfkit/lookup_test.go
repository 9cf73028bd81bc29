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
		{"pytorch", "PyTorch 2.5", "catalog"}, {"vllm", "vLLM server", "catalog"}, {"cafe", "Cafe\u0301", "me"},
		{"mine-1", "Trainer", "me"}, {"mine-2", "Trainer", "me"},
		{"twice", "A", "one"}, {"twice", "B", "two"}, {"noname", "", "me"}, {"", "no slug", "me"},
	}
	const missing = ": The data source gpurent_templates lists all of them. Perhaps elsewhere."
	const noName = "No template with this name" + missing
	for name, test := range map[string]struct{ key, name, found, fails string }{
		"a name":                  {"", "PyTorch 2.5", "pytorch", ""},
		"composed letters":        {"", "Caf\u00e9", "cafe", ""},
		"a key":                   {"vllm", "", "vllm", ""},
		"different case":          {"", "trainer", "", noName},
		"no-break space":          {"", "PyTorch\u00a02.5", "", noName},
		"a key instead of a name": {"", "vllm", "", noName},
		"a name instead of a key": {"Trainer", "", "", "No template with this slug" + missing},
		"two with the same name": {"", "Trainer", "", "Several templates have this name: Set slug instead of name, " +
			`or delete what you do not need: mine-1 "Trainer" (me), mine-2 "Trainer" (me).`},
		"two with the same key": {"twice", "", "", "Several templates have this slug: Set name instead of slug, " +
			`or delete what you do not need: twice "A" (one), twice "B" (two).`},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			found, ok := bySlug.Find(&diags, test.key, test.name, " Perhaps elsewhere.", catalog)
			if ok != (test.fails == "") || ok == diags.HasError() || ok && found.Key != test.found {
				t.Fatalf("found %t %v, %v", ok, found, diags)
			}
			argument := path.Root("name")
			if test.key != "" {
				argument = path.Root("slug")
			}
			for _, each := range diags {
				placed, ok := each.(diag.DiagnosticWithPath)
				if text := each.Summary() + ": " + each.Detail(); len(diags) > 1 || !ok || !placed.Path().Equal(argument) ||
					!strings.HasPrefix(text, test.fails) {
					t.Errorf("%v, want at %s: %s", diags, argument, test.fails)
				}
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
