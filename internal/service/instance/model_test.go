package instance

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func schemaOf(t *testing.T) schema.Schema {
	t.Helper()
	var resp resource.SchemaResponse
	newResource().Schema(t.Context(), resource.SchemaRequest{}, &resp)
	if resp.Diagnostics.HasError() {
		t.Fatal(resp.Diagnostics)
	}
	return resp.Schema
}

// anyValue makes up a value of a type: null, unknown or filled.
func anyValue(random *rand.Rand, typ tftypes.Type) tftypes.Value {
	switch random.IntN(5) {
	case 0:
		return tftypes.NewValue(typ, nil)
	case 1:
		return tftypes.NewValue(typ, tftypes.UnknownValue)
	}
	switch typ := typ.(type) {
	case tftypes.Object:
		parts := map[string]tftypes.Value{}
		for name, part := range typ.AttributeTypes {
			parts[name] = anyValue(random, part)
		}
		return tftypes.NewValue(typ, parts)
	case tftypes.Set:
		return tftypes.NewValue(typ, []tftypes.Value{anyValue(random, typ.ElementType)})
	case tftypes.List:
		return tftypes.NewValue(typ, []tftypes.Value{anyValue(random, typ.ElementType), anyValue(random, typ.ElementType)})
	}
	switch {
	case typ.Is(tftypes.String):
		return tftypes.NewValue(typ, string(rune('a'+random.IntN(26))))
	case typ.Is(tftypes.Number):
		return tftypes.NewValue(typ, random.Int64N(1000))
	case typ.Is(tftypes.Bool):
		return tftypes.NewValue(typ, random.IntN(2) == 0)
	}
	panic(typ.String())
}

// What tfkit.Get makes of a state is what the framework makes of it, and what is the
// same need not be written.
func TestModelIsReadAsTheFrameworkReadsIt(t *testing.T) {
	s := schemaOf(t)
	object, ok := s.Type().TerraformType(t.Context()).(tftypes.Object)
	if !ok {
		t.Fatal("no object")
	}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		parts := map[string]tftypes.Value{}
		for name, part := range object.AttributeTypes {
			parts[name] = anyValue(random, part)
		}
		state := tfsdk.State{Schema: s, Raw: tftypes.NewValue(object, parts)}
		var ours, theirs, other model
		if diags := tfkit.Get(t.Context(), state.Raw, state.Schema, &ours); diags.HasError() {
			t.Fatalf("seed %d: %v", seed, diags)
		}
		if diags := state.Get(t.Context(), &theirs); diags.HasError() {
			t.Fatalf("seed %d: %v", seed, diags)
		}
		if !reflect.DeepEqual(ours, theirs) || !tfkit.Same(&ours, &theirs) {
			t.Errorf("seed %d:\n%+v\n%+v", seed, ours, theirs)
		}
		before := state.Raw.Copy()
		if diags := state.Set(t.Context(), ours); diags.HasError() || !before.Equal(state.Raw) {
			t.Errorf("seed %d: writing what was read changes it: %v", seed, diags)
		}
		for name := range parts {
			changed := tftypes.NewValue(object, replaced(parts, name, anyValue(random, object.AttributeTypes[name])))
			tfkit.Get(t.Context(), changed, s, &other)
			if same, want := tfkit.Same(&ours, &other), changed.Equal(before); same != want {
				t.Errorf("seed %d, %s: the same is %t, want %t", seed, name, same, want)
			}
		}
	}
}

func replaced(parts map[string]tftypes.Value, name string, value tftypes.Value) map[string]tftypes.Value {
	other := map[string]tftypes.Value{}
	for n, v := range parts {
		other[n] = v
	}
	other[name] = value
	return other
}
