package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// What the CLI at hand is new enough to tell of the provider is, to the last
// field, what the documents are made from.
func TestAccDocgen_itsSchemaIsTheCLIs(t *testing.T) {
	said := parsed(t, []byte(acctest.Start(t).Workspace("").Run("providers", "schema", "-json")))
	providers, ok := said["provider_schemas"].(map[string]any)
	if !ok || len(providers) != 1 {
		t.Fatalf("%d providers in what the CLI says, want 1", len(providers))
	}
	schema, err := askProvider(t.Context())
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
			t.Fatalf("the CLI tells of %d parts, want provider, resources and data sources at least", len(parts))
		}
		for part, want := range parts {
			if diff := cmp.Diff(want, ours[part]); diff != "" {
				t.Errorf("%s:\n%s", part, diff)
			}
		}
	}
	if said["format_version"] != formatVersion {
		t.Errorf("the CLI's format is %v, ours %s", said["format_version"], formatVersion)
	}
}
