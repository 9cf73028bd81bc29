package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The schema is the one that the CLI prints, for the kinds of types that the CLI supports.
func TestAccDocgen_schemaEqualsThatOfCLI(t *testing.T) {
	ours, err := schemaFile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	schemas := func(text string) (schema map[string]any) {
		var file struct {
			Schemas map[string]map[string]any `json:"provider_schemas"`
		}
		if err := json.Unmarshal([]byte(text), &file); err != nil || len(file.Schemas) != 1 {
			t.Fatalf("%d providers, %v", len(file.Schemas), err)
		}
		for _, schema = range file.Schemas {
			removeEmpty(schema)
		}
		return schema
	}
	got := schemas(string(ours))
	for part, want := range schemas(acctest.Start(t).Workspace("").Run("providers", "schema", "-json")) {
		if diff := cmp.Diff(want, got[part]); diff != "" {
			t.Errorf("%s:\n%s", part, diff)
		}
	}
}

// removeEmpty removes false, zero and empty values, which the CLI omits from most objects.
func removeEmpty(value any) (empty bool) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, field any) bool { return removeEmpty(field) })
		return len(value) == 0
	case []any:
		for _, one := range value {
			removeEmpty(one)
		}
		return len(value) == 0
	default:
		return value == nil || value == false || value == "" || value == float64(0)
	}
}

func TestWithoutRepeats(t *testing.T) {
	schema := func(name, attributes string) string {
		return "<a id=\"nestedatt--" + name + "\"></a>\n### Nested Schema for `" + name + "`\n\n" + attributes + "\n\n\n"
	}
	page := "# Page\n\n" + schema("fallbacks", "- `gpu`") + schema("other", "- `port`") + schema("query", "- `gpu`") +
		"## Import\n"
	want := strings.Replace(page, "- `gpu`\n\n\n", "The same attributes as [`query`](#nestedatt--query).\n\n", 1)
	if got := withoutRepeats(page); got != want {
		t.Errorf("%s, want:\n%s", got, want)
	}
}
