package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The schema is exactly the one that the CLI prints, for the kinds of types that the CLI supports.
func TestAccDocgen_schemaEqualsThatOfCLI(t *testing.T) {
	printed := parsed(t, []byte(acctest.Start(t).Workspace("").Run("providers", "schema", "-json")))
	providers, ok := printed["provider_schemas"].(map[string]any)
	if !ok || len(providers) != 1 {
		t.Fatalf("the CLI prints %d providers, want 1", len(providers))
	}
	schema, err := providerSchema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	ours := parsed(t, content)
	for _, theirs := range providers {
		parts, ok := theirs.(map[string]any)
		if !ok || len(parts) < 3 {
			t.Fatalf("the CLI prints %d parts, want at least provider, resources and data sources", len(parts))
		}
		for part, want := range parts {
			if diff := cmp.Diff(want, ours[part]); diff != "" {
				t.Errorf("%s:\n%s", part, diff)
			}
		}
	}
	if printed["format_version"] != formatVersion {
		t.Errorf("the CLI's format is %v, ours %s", printed["format_version"], formatVersion)
	}
}

func parsed(t *testing.T, content []byte) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(content, &object); err != nil {
		t.Fatalf("%v in:\n%s", err, content)
	}
	return object
}
