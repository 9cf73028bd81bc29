package tfkit

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// schemaType is what a state, a plan or a configuration tells of its type.
type schemaType interface{ Type() attr.Type }

// Get fills a model, whose fields are attr.Values with tfsdk tags, from the raw value
// of a state, a plan or a configuration. It comes to the same as the framework's own
// Get, which works out the fields of the model anew each time: in a refresh of
// thousands that is most of what a read costs.
func Get[T any](ctx context.Context, raw tftypes.Value, schema schemaType, into *T) diag.Diagnostics {
	var diags diag.Diagnostics
	fields, err := fieldsOf(reflect.TypeFor[T](), schema)
	if err == nil {
		err = fill(ctx, raw, fields, reflect.ValueOf(into).Elem())
	}
	if err != nil {
		diags.AddError("Cannot read what Terraform sent", "This is a mistake in the provider; please report it. "+err.Error())
	}
	return diags
}

// Same says whether two models have the same values.
func Same[T any](one, other *T) bool {
	a, b := reflect.ValueOf(one).Elem(), reflect.ValueOf(other).Elem()
	for _, f := range tagged(a.Type()) {
		value, ok := reflect.TypeAssert[attr.Value](a.FieldByIndex(f.Index))
		if like, alike := reflect.TypeAssert[attr.Value](b.FieldByIndex(f.Index)); !ok || !alike || !value.Equal(like) {
			return false
		}
	}
	return true
}

// tags are the fields of models that are attributes, by the model's type.
var tags sync.Map

func tagged(model reflect.Type) []reflect.StructField {
	if known, ok := tags.Load(model); ok {
		return known.([]reflect.StructField)
	}
	fields := slices.DeleteFunc(reflect.VisibleFields(model), func(f reflect.StructField) bool { return f.Tag.Get("tfsdk") == "" })
	tags.Store(model, fields)
	return fields
}

// field is where an attribute goes in a model.
type field struct {
	name  string
	index []int
	typ   attr.Type
}

// layouts are the same with their types: a model belongs to one schema.
var layouts sync.Map

func fieldsOf(model reflect.Type, schema schemaType) ([]field, error) {
	if known, ok := layouts.Load(model); ok {
		return known.([]field), nil
	}
	object, ok := schema.Type().(attr.TypeWithAttributeTypes)
	if !ok {
		return nil, fmt.Errorf("%s is no object", schema.Type())
	}
	types := object.AttributeTypes()
	var fields []field
	for _, f := range tagged(model) {
		name := f.Tag.Get("tfsdk")
		typ, ok := types[name]
		if !ok {
			return nil, fmt.Errorf("%s has %s, and the schema has not", model, name)
		}
		fields = append(fields, field{name, f.Index, typ})
	}
	if len(fields) != len(types) {
		return nil, fmt.Errorf("%s has %d attributes, and the schema %d", model, len(fields), len(types))
	}
	layouts.Store(model, fields)
	return fields, nil
}

func fill(ctx context.Context, raw tftypes.Value, fields []field, into reflect.Value) error {
	values := make(map[string]tftypes.Value, len(fields))
	if err := raw.As(&values); err != nil {
		return err
	}
	for _, f := range fields {
		value, err := f.typ.ValueFromTerraform(ctx, values[f.name])
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		got, to := reflect.ValueOf(value), into.FieldByIndex(f.index)
		if !got.Type().AssignableTo(to.Type()) {
			return fmt.Errorf("%s: a %s where a %s belongs", f.name, got.Type(), to.Type())
		}
		to.Set(got)
	}
	return nil
}
