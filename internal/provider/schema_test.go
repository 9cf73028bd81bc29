package provider_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// kind is one kind of type a provider has, and where the house keeps its parts.
type kind struct {
	examples string // folder under examples/
	file     string // the example itself
	docs     string // folder under docs/
	imports  bool   // has an import example
}

var (
	resources   = kind{"resources", "resource.tf", "resources", true}
	dataSources = kind{"data-sources", "data-source.tf", "data-sources", false}
)

func schemas(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	server, err := provider.Server("test")()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return resp
}

// Every public type is described to its last attribute, has an example that an
// acceptance test executes, and a page of documentation.
func TestEveryTypeIsWhole(t *testing.T) {
	all := schemas(t)
	if len(all.ResourceSchemas) < 4 || len(all.DataSourceSchemas) < 4 {
		t.Fatalf("%d resources and %d data sources: this test looks at the wrong provider", len(all.ResourceSchemas), len(all.DataSourceSchemas))
	}
	described(t, "provider", all.Provider.Block)
	tests := acceptanceTests(t)
	for name, schema := range all.ResourceSchemas {
		checkType(t, resources, name, schema, tests)
	}
	for name, schema := range all.DataSourceSchemas {
		checkType(t, dataSources, name, schema, tests)
	}
}

func checkType(t *testing.T, k kind, name string, schema *tfprotov6.Schema, tests string) {
	t.Helper()
	described(t, name, schema.Block)
	example := k.examples + "/" + name + "/" + k.file
	needs := []string{"examples/" + example, "docs/" + k.docs + "/" + strings.TrimPrefix(name, "gpurent_") + ".md"}
	if k.imports {
		needs = append(needs, "examples/"+k.examples+"/"+name+"/import.sh")
	}
	for _, file := range needs {
		if info, err := os.Stat(filepath.Join(acctest.Root(), filepath.FromSlash(file))); err != nil || info.Size() == 0 {
			t.Errorf("%s has no %s", name, file)
		}
	}
	if !strings.Contains(tests, `"`+example+`"`) {
		t.Errorf("no acceptance test executes examples/%s", example)
	}
}

// described checks a block and everything below it.
func described(t *testing.T, name string, block *tfprotov6.SchemaBlock) {
	t.Helper()
	if block.Description == "" {
		t.Errorf("%s has no description", name)
	}
	if len(block.BlockTypes) > 0 {
		t.Errorf("%s has blocks: nested attributes are the house's way", name)
	}
	describedAttributes(t, name, block.Attributes)
}

func describedAttributes(t *testing.T, name string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	for _, a := range attributes {
		full := name + "." + a.Name
		text := a.Description
		switch {
		case text == "":
			t.Errorf("%s has no description", full)
		case !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, ")."):
			t.Errorf("%s: the description is not a sentence: %q", full, text)
		}
		for suffix, unit := range map[string]string{"_kop": "kopecks", "_kop_h": "kopecks per hour", "_gb": "GB", "_days": "day"} {
			if strings.HasSuffix(a.Name, suffix) && !strings.Contains(text, unit) {
				t.Errorf("%s: the description names no unit (%s): %q", full, unit, text)
			}
		}
		if a.NestedType != nil {
			describedAttributes(t, full, a.NestedType.Attributes)
		}
	}
}

// acceptanceTests is the text of all acceptance tests of the services.
func acceptanceTests(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(acctest.Root(), "internal", "service", "*", "*_acc_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no acceptance tests found: %v", err)
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}
