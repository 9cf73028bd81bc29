package tfkit

import (
	"context"
	"fmt"
	"strconv"
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

// Find returns the only object with the key or, if that is empty, with the name. If there is none, or more than one, it
// adds an error that names the objects. hint, if any, describes where else the object may be.
func (l *Lookup[T]) Find(diags *diag.Diagnostics, key, name string, hint Text, objects []T) (found T, ok bool) {
	argument, other := l.Key, argumentName
	if key == "" {
		argument, other = argumentName, l.Key
	}
	all, matches := make([]Named, len(objects)), []Named(nil)
	for i, object := range objects {
		all[i] = l.Describe(object)
		if key != "" && all[i].Key == key || key == "" && SameName(all[i].Name, name) {
			found, matches = object, append(matches, all[i])
		}
	}
	switch len(matches) {
	case 0:
		addNoneFound(diags, l.Kind, argument, l.List, hint, all)
	case 1:
		return found, true
	default:
		addSeveralFound(diags, l.Kind, argument, other, matches)
	}
	return found, false
}

// String returns the key and the name. It escapes invisible characters in the name, such as a no-break space: they may
// be why two names differ.
func (n Named) String() string {
	switch {
	case n.Key == "":
		return strconv.Quote(n.Name)
	case n.Name == "":
		return n.Key
	}
	return fmt.Sprintf("%s (%q)", n.Key, n.Name)
}
