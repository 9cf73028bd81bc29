package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

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

// bridgedName is a name as bridges to other tools convert it: without underscores, and in the singular or plural.
func bridgedName(name string) string {
	return strings.TrimSuffix(strings.ReplaceAll(name, "_", ""), "s")
}

func checkAttributes(t *testing.T, name string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	siblings := map[string]string{"urn": "a property of each object in Pulumi"}
	for _, a := range attributes {
		full := name + "." + a.Name
		if other := siblings[bridgedName(a.Name)]; other != "" {
			t.Errorf("%s has the same name as %s in bridges such as Pulumi and CDK Terrain", full, other)
		}
		siblings[bridgedName(a.Name)] = a.Name
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
	parameters := function.Parameters
	if function.VariadicParameter != nil {
		parameters = append(parameters, function.VariadicParameter)
	}
	for i, p := range parameters {
		if !parameterName.MatchString(p.Name) {
			t.Errorf("%s: parameter %d has a generated name: %q", name, i+1, p.Name)
		}
		checkDescription(t, name+", "+p.Name, p.Name, p.Description)
	}
}
