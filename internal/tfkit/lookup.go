package tfkit

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"
)

const argumentName = "name"

// Lookup describes how a data source finds one object: by a unique key, or by a name, which may not be unique.
type Lookup struct {
	Kind Text   // for example "template"
	Key  string // the argument with the unique key, for example "slug"
}

// Named is an object that a lookup searches.
type Named struct {
	Key  string
	Name string // empty for none
	Note string // distinguishes it from others with the same name, for example "running"
}

// Attributes adds the two arguments of the lookup, of which exactly one is required. key and name are the beginnings of
// their descriptions.
func (l Lookup) Attributes(attributes map[string]schema.Attribute, key, name string) {
	constraints := " Must not be empty. Exactly one of `" + l.Key + "` and `" + argumentName + "` is required."
	attributes[l.Key] = schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: key + constraints,
		Validators: []validator.String{
			stringvalidator.LengthAtLeast(1), stringvalidator.ExactlyOneOf(path.MatchRoot(l.Key), path.MatchRoot(argumentName)),
		},
	}
	attributes[argumentName] = schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: name + constraints,
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
	}
}

// Config returns the argument that is set; the other one is empty.
func (l Lookup) Config(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) (key, name string) {
	var keyValue, nameValue types.String
	diags.Append(config.GetAttribute(ctx, path.Root(l.Key), &keyValue)...)
	diags.Append(config.GetAttribute(ctx, path.Root(argumentName), &nameValue)...)
	return keyValue.ValueString(), nameValue.ValueString()
}

// SameName reports whether two names are the same text in Unicode normal form C, which Terraform uses for strings.
func SameName(one, other string) bool { return norm.NFC.String(one) == norm.NFC.String(other) }

// NameHasPrefix reports whether a name begins with a text, in normal form C.
func NameHasPrefix(name, prefix string) bool {
	return strings.HasPrefix(norm.NFC.String(name), norm.NFC.String(prefix))
}

// ByName returns the index of the object with a name. If there is none, or more than one, it adds an error that names
// the objects. hint, if any, describes where else the object may be.
func (l Lookup) ByName(diags *diag.Diagnostics, name string, hint Text, objects []Named) (index int, ok bool) {
	var matches []Named
	for i, object := range objects {
		if SameName(object.Name, name) {
			index, matches = i, append(matches, object)
		}
	}
	switch len(matches) {
	case 0:
		addNoneFound(diags, l, argumentName, name, hint, objects)
		return 0, false
	case 1:
		return index, true
	}
	addSeveralFound(diags, l, name, matches)
	return 0, false
}

// NotFound adds an error that no object has the key. The error names the objects.
func (l Lookup) NotFound(diags *diag.Diagnostics, key string, hint Text, objects []Named) {
	addNoneFound(diags, l, l.Key, key, hint, objects)
}

// isOther reports whether a value of an argument without a match is the value of the other argument for some object.
func (l Lookup) isOther(argument, value string, objects []Named) (other string, ok bool) {
	other = argumentName
	if argument == argumentName {
		other = l.Key
	}
	return other, slices.ContainsFunc(objects, func(n Named) bool {
		return other == l.Key && n.Key == value || other == argumentName && SameName(n.Name, value)
	})
}
