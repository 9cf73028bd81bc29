package provider

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// constraint is a text of validators, plan modifiers or defaults, as a pattern, with what the description of the
// attribute must contain: $1 and $2 are parts of the text. In the other direction, an argument whose description
// matches promise must have a constraint with this promise.
type constraint struct{ text, description, promise string }

const (
	upTo       = ` Up to \d`
	goDuration = "Go duration such as `"
	replaces   = "Changing this forces a new resource to be "
)

var constraints = []constraint{
	{`^value must be at most sum of size$`, "Must not exceed `size`", ""},
	{`^value must be between (\S+) and (\S+)$`, "Must be between $1 and $2", `Must be between \d`},
	{`^value must be at (least|most) (\S+)$`, "Must be at $1 $2.", `Must be at (least|most) `},
	{`^(?:value )?must be one of: \[?"(.+)"\]?$`, "Valid values: `$1`", "Valid values: `"},
	{`^must not be empty$|^(?:set|list) must contain at least 1 elements$`, " not be empty.", ` not be empty\.`},
	{`^UTF-8 character count must be between (\d+) and (\d+)$`, " $1 to $2 characters.", `\d to \d+ characters`},
	{`^(?:UTF-8 character count|string length) must be at most (\d+)$`, " Up to $1 ", upTo},
	{`^(?:set|map) must contain at most (\d+) elements$`, " Up to $1 ", upTo},
	{`^Ensure that one and only one attribute`, "Exactly one of ", ""},
	{`^must be a duration\b`, goDuration, goDuration},
	{`^must be a string containing a sequence of decimal numbers`, goDuration, goDuration},
	{`^must be a model slug without commas`, "without commas", "without commas"},
	{`^All values in the (set|map|list) must be configured`, "", ""},
	{`^must be two capital letters`, "in upper case", "in upper case"},
	{
		`^must consist of the letters a to z and A to Z(, digits, dots, underscores and hyphens, and must begin with)`,
		"ASCII letters$1", "ASCII letters",
	},
	{`also these are set: "\[(\w+)\]"`, "Requires `$1`.", "Requires `"},
	{`^a (regular expression) in RE2 syntax`, "Regular expression (RE2 syntax)", "Regular expression"},
	{`^one line of a public key file`, "One line of a public key file", "^One line of a public key"},
	{`^a container image with a tag`, "with a tag", "with a tag"},
	{`^value defaults to (.+)$`, "Defaults to `$1`", ""},
	{`recreate the resource|replaces the instance|forces a new resource`, replaces, replaces},
	{`^Once set, the value|^Another spelling of the same image`, "", ""},
}

// The description of each attribute contains its bounds, its valid values and its default, and states whether a change
// forces a replacement. It states nothing that the schema lacks. The kinds of schemas have no common exported
// interface, but the same names of methods and fields.
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
	_, plans := value.Interface().(resource.ResourceWithModifyPlan)
	checkAttributes(t, value.Type().String(), plans, resp.Elem().FieldByName("Schema"))
}

// checkAttributes checks the attributes of a schema, a nested attribute or a nested object. The plan of the type can
// replace objects if plans is true.
func checkAttributes(t *testing.T, path string, plans bool, parent reflect.Value) {
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
		var texts []string
		for _, field := range []string{"Validators", "PlanModifiers", "Default"} {
			texts = append(texts, constraintTexts(t, attribute.FieldByName(field))...)
		}
		for _, text := range texts {
			checkConstraint(t, path, description, text)
		}
		if attribute.FieldByName("Optional").Bool() || attribute.FieldByName("Required").Bool() {
			checkPromises(t, path, plans, description, texts)
		}
		checkAttributes(t, path, plans, attribute)
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
			want := string(rule.ExpandString(nil, c.description, text, match))
			want = strings.NewReplacer(`" "`, "`, `", `", "`, "`, `").Replace(want)
			if !strings.Contains(explanation.ReplaceAllString(description, "`"), want) {
				t.Errorf("%s: the description does not contain %q (%s): %q", path, want, text, description)
			}
			return
		}
	}
	t.Errorf("%s: no rule for the description of %q", path, text)
}

// checkPromises checks that an argument has the constraints that its description states.
func checkPromises(t *testing.T, path string, plans bool, description string, texts []string) {
	t.Helper()
	for _, c := range constraints {
		promised := c.promise != "" && regexp.MustCompile(c.promise).MatchString(description)
		kept := slices.ContainsFunc(constraints, func(same constraint) bool {
			return same.promise == c.promise && slices.ContainsFunc(texts, regexp.MustCompile(same.text).MatchString)
		}) || c.promise == replaces && plans
		if promised && !kept {
			t.Errorf("%s: nothing enforces %q, only %v: %q", path, c.promise, texts, description)
		}
	}
}
