package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// units are what a description must name where a name ends so.
var units = map[string]string{"_kop": "kopecks", "_kop_h": "kopecks per hour", "_gb": "GB", "_days": "day"}

// sentence checks a description: a sentence that names the unit.
func sentence(t *testing.T, of, name, text string) {
	t.Helper()
	switch {
	case text == "":
		t.Errorf("%s has no description", of)
	case !strings.HasSuffix(text, "."):
		t.Errorf("%s: the description is not a sentence: %q", of, text)
	}
	for suffix, unit := range units {
		if strings.HasSuffix("_"+name, suffix) && !strings.Contains(text, unit) {
			t.Errorf("%s: the description names no unit (%s): %q", of, unit, text)
		}
	}
}

func describedSchema(t *testing.T, name string, schema *tfprotov6.Schema) {
	t.Helper()
	describedBlock(t, name, schema.Block)
}

func describedAction(t *testing.T, name string, action *tfprotov6.ActionSchema) {
	t.Helper()
	describedBlock(t, name, action.Schema.Block)
}

// describedBlock checks a type and everything below it.
func describedBlock(t *testing.T, name string, block *tfprotov6.SchemaBlock) {
	t.Helper()
	sentence(t, name, name, block.Description)
	if len(block.BlockTypes) > 0 {
		t.Errorf("%s has blocks: nested attributes are the house's way", name)
	}
	describedAttributes(t, name, block.Attributes)
}

func describedAttributes(t *testing.T, name string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	for _, a := range attributes {
		full := name + "." + a.Name
		sentence(t, full, a.Name, a.Description)
		if a.NestedType != nil {
			describedAttributes(t, full, a.NestedType.Attributes)
		}
	}
}

func describedIdentity(t *testing.T, name string, identity *tfprotov6.ResourceIdentitySchema) {
	t.Helper()
	if len(identity.IdentityAttributes) == 0 {
		t.Errorf("the identity of %s is empty", name)
	}
	for _, a := range identity.IdentityAttributes {
		sentence(t, name+", identity, "+a.Name, a.Name, a.Description)
	}
}

// parameterName is one that somebody chose: the framework numbers those without.
var parameterName = regexp.MustCompile(`^[a-z][a-z_]*$`)

func describedFunction(t *testing.T, name string, function *tfprotov6.Function) {
	t.Helper()
	sentence(t, name, name, function.Description)
	// A list of functions shows the summary: it is a title, not a sentence.
	if function.Summary == "" || strings.Contains(function.Summary, "\n") {
		t.Errorf("%s: the summary is not one line: %q", name, function.Summary)
	}
	parameters := function.Parameters
	if function.VariadicParameter != nil {
		parameters = append(parameters, function.VariadicParameter)
	}
	for i, p := range parameters {
		if !parameterName.MatchString(p.Name) {
			t.Errorf("%s: parameter %d has no name of its own: %q", name, i+1, p.Name)
		}
		sentence(t, name+", "+p.Name, p.Name, p.Description)
	}
}
