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

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const argumentName = "name"

// Lookup describes how a data source finds one object: by a key, which is unique or nearly unique, or by a name, which
// may not be unique.
type Lookup struct {
	Kind Text   // for example "template"
	Key  string // the argument with the key, for example "slug"
	List Text   // the data source that lists all objects, for example "gpurent_templates"
	// KeyOnly is true if the data source has no argument for the name.
	KeyOnly bool
}

// Named is an object that a lookup searches.
type Named struct {
	Key  string // empty for none
	Name string // empty for none
	Note string // distinguishes it from others with the same name or key, for example "running"
}

// Attributes adds the two arguments of the lookup, of which exactly one is required. key and name are the beginnings of
// their descriptions. keyValidators are additional validators of the key.
func (l Lookup) Attributes(
	attributes map[string]schema.Attribute, key, name string, keyValidators ...validator.String,
) {
	constraints := " Must not be empty. Exactly one of `" + l.Key + "` and `" + argumentName + "` is required."
	attributes[l.Key] = schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: key + constraints,
		Validators: append([]validator.String{
			stringvalidator.LengthAtLeast(1), stringvalidator.ExactlyOneOf(path.MatchRoot(l.Key), path.MatchRoot(argumentName)),
		}, keyValidators...),
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
	return l.only(diags, argumentName, name, hint, objects)
}

// only returns the index of the only object with a value of an argument.
func (l Lookup) only(
	diags *diag.Diagnostics, argument, value string, hint Text, objects []Named,
) (index int, ok bool) {
	var matches []Named
	for i, object := range objects {
		if l.has(object, argument, value) {
			index, matches = i, append(matches, object)
		}
	}
	switch {
	case len(matches) == 1:
		return index, true
	case len(matches) == 0:
		addNoneFound(diags, l, argument, value, hint, objects)
	case argument == argumentName:
		addSeveralNamed(diags, l, matches)
	default:
		addSeveralWithKey(diags, l, matches)
	}
	return 0, false
}

// has reports whether an object has a value of an argument.
func (l Lookup) has(object Named, argument, value string) bool {
	if argument == argumentName {
		return SameName(object.Name, value)
	}
	return object.Key == value
}

// Find is ByName for the object with the key or, if that is empty, with the name.
// skipped are the entries of the list that cannot be read: one of them may be the object.
func (l Lookup) Find(
	diags *diag.Diagnostics, key, name string, skipped []rental.Skipped, objects []Named,
) (index int, ok bool) {
	var hint Text
	if len(skipped) > 0 {
		hint = mayBeSkipped
	}
	if key != "" {
		return l.only(diags, l.Key, key, hint, objects)
	}
	return l.ByName(diags, name, hint, objects)
}

// NotFound adds an error that no object has the key. The error names the objects.
func (l Lookup) NotFound(diags *diag.Diagnostics, key string, hint Text, objects []Named) {
	addNoneFound(diags, l, l.Key, key, hint, objects)
}

// other returns the object for which a value of an argument without a match is the value of the other argument.
func (l Lookup) other(argument, value string, objects []Named) (other string, object Named, ok bool) {
	other = argumentName
	if argument == argumentName {
		other = l.Key
	}
	at := slices.IndexFunc(objects, func(n Named) bool { return l.has(n, other, value) })
	if at < 0 {
		return "", Named{}, false
	}
	return other, objects[at], true
}
