package provider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func schemas(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	_, schemas := acctest.ProviderServer(t)
	return schemas
}

// Every type has a description for all its attributes, examples that a test runs, and a page that shows them.
func TestTypes_DescribedWithExamplesAndPage(t *testing.T) {
	all := schemas(t)
	checkSchema(t, "provider", all.Provider)
	checkTypes(t, "resources", "resource.tf", all.ResourceSchemas, checkSchema)
	checkTypes(t, "data-sources", "data-source.tf", all.DataSourceSchemas, checkSchema)
	checkTypes(t, "ephemeral-resources", "ephemeral-resource.tf", all.EphemeralResourceSchemas, checkSchema)
	checkTypes(t, "list-resources", "list-resource.tfquery.hcl", all.ListResourceSchemas, checkSchema)
	checkTypes(t, "actions", "action.tf", all.ActionSchemas, func(t *testing.T, name string, a *tfprotov6.ActionSchema) {
		checkSchema(t, name, a.Schema)
	})
	checkTypes(t, "functions", "function.tf", all.Functions, checkFunction)
}

// checkTypes checks all types of a kind: their descriptions with check, their example with a file name and their other
// examples. Imports run in TestAccProvider_importExamples.
func checkTypes[T any](
	t *testing.T, folder, example string, types map[string]T, check func(*testing.T, string, T),
) {
	t.Helper()
	tests := readFiles(t, "internal/service/*/*_test.go")
	examples, err := os.ReadDir(filepath.Join(acctest.Root(), "examples", folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range examples {
		if _, found := types[example.Name()]; !found {
			t.Errorf("%s/%s has an example, but is not in services.go", folder, example.Name())
		}
	}
	for name, one := range types {
		check(t, name, one)
		page := readFiles(t, "docs/"+folder+"/"+strings.TrimPrefix(name, "gpurent_")+".md")
		found := readFiles(t, "examples/"+folder+"/"+name+"/*")
		if found[example] == "" {
			t.Errorf("%s has no example %s", name, example)
		}
		for file, content := range found {
			runs := strings.HasPrefix(file, "import")
			for _, test := range tests {
				runs = runs || strings.Contains(test, `"`+folder+"/"+name+"/"+file+`"`)
			}
			shown := false
			for _, text := range page {
				shown = strings.Contains(text, strings.TrimSpace(content))
			}
			if !runs || !shown {
				t.Errorf("%s of %s is run by a test: %t, is on its page: %t (see make docs)", file, name, runs, shown)
			}
		}
	}
}

// readFiles returns the texts of the files of the repository that match a pattern, by their names without folders.
func readFiles(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(acctest.Root(), filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] += string(content)
	}
	return all
}

// Every resource has an identity, and every list resource belongs to a resource.
func TestTypes_HaveIdentity(t *testing.T) {
	server, all := acctest.ProviderServer(t)
	resp, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	identities := must(t, resp, err).IdentitySchemas
	for name := range all.ResourceSchemas {
		if identities[name] == nil || len(identities[name].IdentityAttributes) == 0 {
			t.Errorf("resource %s has no identity", name)
			continue
		}
		for _, a := range identities[name].IdentityAttributes {
			checkDescription(t, name+", identity, "+a.Name, a.Name, a.Description)
		}
	}
	for name := range all.ListResourceSchemas {
		if identities[name] == nil {
			t.Errorf("list resource %s has no resource with an identity", name)
		}
	}
}

// units maps the suffix of an attribute name to the unit that its description must contain.
var units = map[string]string{"_kop": "kopecks", "_kop_h": "kopecks per hour", "_gb": "GB", "_days": "day"}

// checkDescription checks that a description is a sentence and contains the unit.
func checkDescription(t *testing.T, path, name, text string) {
	t.Helper()
	if !strings.Contains(text, " ") || !strings.HasSuffix(text, ".") {
		t.Errorf("%s: the description is not a sentence: %q", path, text)
	}
	for suffix, unit := range units {
		if strings.HasSuffix("_"+name, suffix) && !strings.Contains(text, unit) {
			t.Errorf("%s: the description names no unit (%s): %q", path, unit, text)
		}
	}
}

// checkSchema checks the descriptions of a type and all its attributes.
func checkSchema(t *testing.T, name string, schema *tfprotov6.Schema) {
	t.Helper()
	checkDescription(t, name, name, schema.Block.Description)
	if len(schema.Block.BlockTypes) > 0 {
		t.Errorf("%s has blocks, want nested attributes", name)
	}
	checkAttributes(t, name, schema.Block.Attributes)
}

func checkAttributes(t *testing.T, name string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	siblings := map[string]string{"urn": "a property of each object in Pulumi"}
	for _, a := range attributes {
		full := name + "." + a.Name
		bridged := strings.TrimSuffix(strings.ReplaceAll(a.Name, "_", ""), "s") // in the singular or plural
		if other := siblings[bridged]; other != "" {
			t.Errorf("%s has the same name as %s in bridges such as Pulumi and CDK Terrain", full, other)
		}
		siblings[bridged] = a.Name
		checkDescription(t, full, a.Name, a.Description)
		if a.NestedType != nil {
			checkAttributes(t, full, a.NestedType.Attributes)
		}
	}
}

// parameterName matches a parameter name. The framework adds a number to names that it generates.
var parameterName = regexp.MustCompile(`^[a-z][a-z_]*$`)

func checkFunction(t *testing.T, name string, function *tfprotov6.Function) {
	t.Helper()
	checkDescription(t, name, name, function.Description)
	// The summary is a title, not a sentence.
	if function.Summary == "" || strings.Contains(function.Summary, "\n") {
		t.Errorf("%s: the summary is not one line: %q", name, function.Summary)
	}
	for i, p := range function.Parameters {
		if !parameterName.MatchString(p.Name) {
			t.Errorf("%s: parameter %d has a generated name: %q", name, i+1, p.Name)
		}
		checkDescription(t, name+", "+p.Name, p.Name, p.Description)
	}
}
