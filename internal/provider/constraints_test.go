package provider

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// constraints maps texts of validators, plan modifiers and defaults to what the description of the attribute must
// contain, where $1 and $2 are parts of the text.
var constraints = []struct{ text, description string }{
	{`^value must be between (\S+) and (\S+)$`, "Must be between $1 and $2"},
	{`^value must be at (least|most) (\S+)$`, "Must be at $1 $2."},
	{`^value must be one of: \["(.+)"\]$`, "Valid values: `$1`"},
	{`^(?:string length must be|(?:set|list) must contain) at least 1\b`, " not be empty."},
	{`^UTF-8 character count must be between (\d+) and (\d+)$`, " $1 to $2 characters."},
	{`^(?:UTF-8 character count|string length) must be at most (\d+)$`, " Up to $1 "},
	{`^(?:set|map) must contain at most (\d+) elements$`, " Up to $1 "},
	{`^Ensure that one and only one attribute`, "Exactly one of "},
	{`^must be a duration\b`, "Go duration such as `"},
	{`^must be a string containing a sequence of decimal numbers`, "Go duration such as `"},
	{`^must be a model slug without commas`, "without commas"},
	{`^All values in the (set|map) must be configured`, ""},
	{`^must be two capital letters`, "in upper case"},
	{`^must consist of (letters, digits, dots, underscores and hyphens, and must begin with a letter or digit)`, "$1"},
	{`also these are set: "\[(\w+)\]"`, "Requires `$1`."},
	{`^a (regular expression) in RE2 syntax`, "Regular expression (RE2 syntax)"},
	{`^a SHA256 fingerprint`, "SHA256 fingerprint"},
	{`^one line of a public key file`, "One line of a public key file"},
	{`^a container image with a tag`, "with a tag"},
	{`^value defaults to (.+)$`, "Defaults to `$1`"},
	{`recreate the resource|replaces the instance|forces a new resource`, "Changing this forces a new resource to be "},
	{`^Once set, the value|^Another spelling of the same image`, ""},
}

// The description of each attribute contains its bounds, its valid values and its default, and states whether a change
// forces a replacement. The kinds of schemas have no common exported interface, but the same names of methods and
// fields.
func TestDescriptions_StateConstraints(t *testing.T) {
	p := reflect.ValueOf(&gpurentProvider{process: new(process)})
	checkType(t, p)
	for _, kind := range []string{"Resources", "DataSources", "EphemeralResources", "ListResources", "Actions"} {
		constructors := p.MethodByName(kind).Call([]reflect.Value{reflect.ValueOf(t.Context())})[0]
		for i := range constructors.Len() {
			checkType(t, constructors.Index(i).Call(nil)[0].Elem())
		}
	}
}

func checkType(t *testing.T, value reflect.Value) {
	t.Helper()
	method := value.MethodByName("Schema")
	if !method.IsValid() {
		method = value.MethodByName("ListResourceConfigSchema")
	}
	resp := reflect.New(method.Type().In(2).Elem())
	method.Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.Zero(method.Type().In(1)), resp})
	checkAttributes(t, value.Type().String(), resp.Elem().FieldByName("Schema"))
}

// checkAttributes checks the attributes of a schema, a nested attribute or a nested object.
func checkAttributes(t *testing.T, path string, parent reflect.Value) {
	t.Helper()
	if object := parent.FieldByName("NestedObject"); object.IsValid() {
		parent = object
	}
	attributes := parent.FieldByName("Attributes")
	if !attributes.IsValid() {
		return
	}
	for _, name := range attributes.MapKeys() {
		attribute, path := attributes.MapIndex(name).Elem(), path+"."+name.String()
		description := attribute.FieldByName("MarkdownDescription").String() + attribute.FieldByName("Description").String()
		for _, field := range []string{"Validators", "PlanModifiers", "Default"} {
			for _, text := range constraintTexts(t, attribute.FieldByName(field)) {
				checkConstraint(t, path, description, text)
			}
		}
		checkAttributes(t, path, attribute)
	}
}

// constraintTexts returns the texts of validators, plan modifiers or a default, without those around the texts for
// elements.
func constraintTexts(t *testing.T, field reflect.Value) (texts []string) {
	t.Helper()
	if !field.IsValid() || field.IsNil() {
		return nil
	}
	if described, ok := field.Interface().(validator.Describer); ok {
		text := strings.ReplaceAll(described.Description(t.Context()), ".000000", "") // of a floating-point bound
		_, ofElements, found := strings.Cut(text, " must satisfy all validations: ")
		if found {
			text = ofElements
		}
		return strings.Split(text, " + ")
	}
	for i := range field.Len() {
		texts = append(texts, constraintTexts(t, field.Index(i))...)
	}
	return texts
}

// explanation is what a description adds to a valid value.
var explanation = regexp.MustCompile("` \\([^)]*\\)")

func checkConstraint(t *testing.T, path, description, text string) {
	t.Helper()
	for _, c := range constraints {
		rule := regexp.MustCompile(c.text)
		if match := rule.FindStringSubmatchIndex(text); match != nil {
			want := strings.ReplaceAll(string(rule.ExpandString(nil, c.description, text, match)), `" "`, "`, `")
			if !strings.Contains(explanation.ReplaceAllString(description, "`"), want) {
				t.Errorf("%s: the description does not contain %q (%s): %q", path, want, text, description)
			}
			return
		}
	}
	t.Errorf("%s: no rule for the description of %q", path, text)
}
