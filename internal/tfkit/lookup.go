package tfkit

import (
	"context"
	"fmt"
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

// Lookup describes how a data source finds one object of type T: by a key, which is unique or nearly unique, or by a
// name, which may not be unique.
type Lookup[T any] struct {
	Kind Text   // for example "template"
	Key  string // the argument with the key, for example "slug"
	List Text   // the data source that lists all objects, for example "gpurent_templates"
	// Describe returns the key and the name of an object.
	Describe func(T) Named
}

// Named is how a lookup finds an object and names it in messages.
type Named struct {
	Key  string // empty for none
	Name string // empty for none
	Note string // distinguishes it from others with the same name or key, for example "running"
}

// Attributes adds the two arguments of the lookup, of which exactly one is required. key and name are the beginnings of
// their descriptions. keyValidators are additional validators of the key.
func (l *Lookup[T]) Attributes(
	attributes map[string]schema.Attribute, key, name string, keyValidators ...validator.String,
) {
	constraints := " Must not be empty. Exactly one of `" + l.Key + "` and `" + argumentName + "` is required."
	attributes[l.Key] = schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: key + constraints,
		Validators: append([]validator.String{
			NotEmpty(), stringvalidator.ExactlyOneOf(path.MatchRoot(l.Key), path.MatchRoot(argumentName)),
		}, keyValidators...),
	}
	attributes[argumentName] = schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: name + constraints,
		Validators: []validator.String{NotEmpty()},
	}
}

// Config returns the argument that is set; the other one is empty.
func (l *Lookup[T]) Config(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) (key, name string) {
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

// Find returns the only object with the key or, if that is empty, with the name. It adds an error if there is none, or
// more than one. hint is empty, or a sentence after a space about where else the object may be.
func (l *Lookup[T]) Find(diags *diag.Diagnostics, key, name string, hint Text, objects []T) (found T, ok bool) {
	argument, other := l.Key, argumentName
	if key == "" {
		argument, other = argumentName, l.Key
	}
	var matches []string
	for _, object := range objects {
		n := l.Describe(object)
		if key != "" && n.Key == key || key == "" && SameName(n.Name, name) {
			found, matches = object, append(matches, fmt.Sprintf("%s %q (%s)", n.Key, n.Name, n.Note))
		}
	}
	switch at := path.Root(argument); len(matches) {
	case 1:
		return found, true
	case 0:
		AddAttributeError(diags, at, Textf("No %s with this %s", l.Kind, argument),
			Textf("The data source %s lists all of them.", l.List)+hint)
	default:
		AddAttributeError(diags, at, Textf("Several %ss have this %s", l.Kind, argument),
			Textf("Set %s instead of %s, or delete what you do not need: %s.", other, argument, matches))
	}
	return found, false
}
