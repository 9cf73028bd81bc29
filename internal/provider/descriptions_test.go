package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// units maps the suffix of an attribute name to the unit that its description must contain.
var units = map[string]string{"_kop": "kopecks", "_kop_h": "kopecks per hour", "_gb": "GB", "_days": "day"}

// callout matches a callout of a registry. tfplugindocs copies the description of a type to the front matter of its
// page, where a callout is plain text.
var callout = regexp.MustCompile(`(?m)^\s*[~!-]>`)

// checkDescription checks that a description is a sentence of several words without callouts, and contains the unit.
func checkDescription(t *testing.T, path, name, text string) {
	t.Helper()
	switch {
	case text == "":
		t.Errorf("%s has no description", path)
	case !strings.Contains(text, " "):
		t.Errorf("%s: the description is a single word: %q", path, text)
	case callout.MatchString(text):
		t.Errorf("%s: the description contains a callout: %q", path, text)
	case strings.Count(text, " not be empty.") > 1:
		t.Errorf("%s: the description repeats itself: %q", path, text)
	case !strings.HasSuffix(text, "."):
		t.Errorf("%s: the description is not a sentence: %q", path, text)
	}
	checkFirstSentence(t, path, text)
	for suffix, unit := range units {
		if strings.HasSuffix("_"+name, suffix) && !strings.Contains(text, unit) {
			t.Errorf("%s: the description names no unit (%s): %q", path, unit, text)
		}
	}
}

var (
	sentenceEnd = regexp.MustCompile(`\.(?: [A-Z` + "`" + `[]|\n|$)`)
	// dependent matches the beginning of a sentence that refers to another one, or to another page.
	dependent = regexp.MustCompile(`^(?:It|This|That|These|Those|They|Its|Their|He|Such|Also|Same|The same|Like|As)\b|` +
		`\]\(|\b(?:above|below)[.,;)]|\bsee\b`)
)

// checkFirstSentence checks that the first sentence of a description stands alone: editors, Pulumi and generated code
// show no more.
func checkFirstSentence(t *testing.T, path, text string) {
	t.Helper()
	first := text
	if end := sentenceEnd.FindStringIndex(text); end != nil {
		first = text[:end[0]+1]
	}
	if problem := dependent.FindString(first); problem != "" {
		t.Errorf("%s: the first sentence does not stand alone (%q): %q", path, problem, first)
	}
	if first[0] >= 'a' && first[0] <= 'z' || strings.Count(first, "`")%2 > 0 || strings.Contains(first, "\n") {
		t.Errorf("%s: the first sentence is not a whole one: %q", path, first)
	}
}

func checkSchema(t *testing.T, name string, schema *tfprotov6.Schema) {
	t.Helper()
	checkBlock(t, name, schema.Block)
}

func checkAction(t *testing.T, name string, action *tfprotov6.ActionSchema) {
	t.Helper()
	checkBlock(t, name, action.Schema.Block)
}

// checkBlock checks the descriptions of a type and all its attributes.
func checkBlock(t *testing.T, name string, block *tfprotov6.SchemaBlock) {
	t.Helper()
	checkDescription(t, name, name, block.Description)
	if len(block.BlockTypes) > 0 {
		t.Errorf("%s has blocks, want nested attributes", name)
	}
	checkAttributes(t, name, block.Attributes)
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

func checkIdentity(t *testing.T, name string, identity *tfprotov6.ResourceIdentitySchema) {
	t.Helper()
	if len(identity.IdentityAttributes) == 0 {
		t.Errorf("the identity of %s is empty", name)
	}
	for _, a := range identity.IdentityAttributes {
		checkDescription(t, name+", identity, "+a.Name, a.Name, a.Description)
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
