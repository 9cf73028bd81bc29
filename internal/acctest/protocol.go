package acctest

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// ProviderServer returns a provider that a test calls through the plugin protocol, without a CLI, and its schemas.
func ProviderServer(t testing.TB) (tfprotov6.ProviderServer, *tfprotov6.GetProviderSchemaResponse) {
	t.Helper()
	server, err := provider.Server("test")()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range schemas.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return server, schemas
}

// Value returns a value of a type. Attributes of an object that are missing from a map are null.
func Value(typ tftypes.Type, value any) tftypes.Value {
	switch value := value.(type) {
	case map[string]any:
		attributes := map[string]tftypes.Value{}
		if typ, ok := typ.(tftypes.Map); ok {
			for name, element := range value {
				attributes[name] = Value(typ.ElementType, element)
			}
			return tftypes.NewValue(typ, attributes)
		}
		for name, attribute := range typ.(tftypes.Object).AttributeTypes {
			attributes[name] = Value(attribute, value[name])
		}
		return tftypes.NewValue(typ, attributes)
	case []any:
		var element tftypes.Type
		switch typ := typ.(type) {
		case tftypes.Set:
			element = typ.ElementType
		case tftypes.List:
			element = typ.ElementType
		}
		var elements []tftypes.Value
		for _, each := range value {
			elements = append(elements, Value(element, each))
		}
		return tftypes.NewValue(typ, elements)
	default:
		return tftypes.NewValue(typ, value)
	}
}

// Pack encodes a value for a request of the plugin protocol.
func Pack(t testing.TB, value tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	packed, err := tfprotov6.NewDynamicValue(value.Type(), value)
	if err != nil {
		t.Fatal(err)
	}
	return &packed
}
