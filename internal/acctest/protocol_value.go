package acctest

import (
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// A CLI has values of cty, the protocol has packed ones, and a provider has a
// third kind.

// pack makes a value of cty one of the protocol, what is unknown included.
func pack(t testing.TB, value cty.Value) *tfprotov6.DynamicValue {
	t.Helper()
	packed, err := msgpack.Marshal(value, value.Type())
	return &tfprotov6.DynamicValue{MsgPack: must(t, packed, err)}
}

// unpack makes an object of the protocol one of JSON. Nothing stays nothing.
func unpack(t testing.TB, packed *tfprotov6.DynamicValue, as cty.Type) map[string]any {
	t.Helper()
	if packed == nil {
		return nil
	}
	value, err := msgpack.Unmarshal(packed.MsgPack, as)
	if must(t, value, err).IsNull() {
		return nil
	}
	text, err := ctyjson.Marshal(value, as)
	var object map[string]any
	if err := json.Unmarshal(must(t, text, err), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// ctyType is a provider's type as one of cty. Both write it down alike.
func ctyType(t testing.TB, of tftypes.Type) cty.Type {
	t.Helper()
	text, err := json.Marshal(of)
	made, err2 := ctyjson.UnmarshalType(must(t, text, err))
	return must(t, made, err2)
}

// attributeType is what an argument may be: in nested objects arguments may be left
// out, which become null.
func attributeType(t testing.TB, a *tfprotov6.SchemaAttribute) cty.Type {
	t.Helper()
	if a.NestedType == nil {
		return ctyType(t, a.Type)
	}
	types, optional := map[string]cty.Type{}, []string(nil)
	for _, inner := range a.NestedType.Attributes {
		types[inner.Name] = attributeType(t, inner)
		if !inner.Required {
			optional = append(optional, inner.Name)
		}
	}
	object := cty.ObjectWithOptionalAttrs(types, optional)
	switch a.NestedType.Nesting {
	case tfprotov6.SchemaObjectNestingModeList:
		return cty.List(object)
	case tfprotov6.SchemaObjectNestingModeSet:
		return cty.Set(object)
	case tfprotov6.SchemaObjectNestingModeMap:
		return cty.Map(object)
	default:
		return object
	}
}

// must ends the test at an error.
func must[T any](t testing.TB, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}
