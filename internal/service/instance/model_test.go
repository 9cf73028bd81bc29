package instance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

func schemaOf(t *testing.T) schema.Schema {
	t.Helper()
	var resp resource.SchemaResponse
	NewResource().Schema(t.Context(), resource.SchemaRequest{}, &resp)
	if resp.Diagnostics.HasError() {
		t.Fatal(resp.Diagnostics)
	}
	return resp.Schema
}

// randomValue returns a value of a type: null, unknown or filled.
func randomValue(random *rand.Rand, typ tftypes.Type) tftypes.Value {
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
			parts[name] = randomValue(random, part)
		}
		return tftypes.NewValue(typ, parts)
	case tftypes.Set:
		return tftypes.NewValue(typ, []tftypes.Value{randomValue(random, typ.ElementType)})
	case tftypes.List:
		return tftypes.NewValue(
			typ,
			[]tftypes.Value{randomValue(random, typ.ElementType), randomValue(random, typ.ElementType)},
		)
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

// Reading and writing a state does not change it.
func TestModel_RoundTrip(t *testing.T) {
	s := schemaOf(t)
	object, ok := s.Type().TerraformType(t.Context()).(tftypes.Object)
	if !ok {
		t.Fatal("no object")
	}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		values := map[string]tftypes.Value{}
		for name, typ := range object.AttributeTypes {
			values[name] = randomValue(random, typ)
		}
		state := tfsdk.State{Schema: s, Raw: tftypes.NewValue(object, values)}
		before := state.Raw.Copy()
		var m model
		diags := state.Get(t.Context(), &m)
		diags.Append(state.Set(t.Context(), m)...)
		if diags.HasError() || !before.Equal(state.Raw) {
			t.Errorf("seed %d: %v, %v; want %v", seed, diags, state.Raw, before)
		}
	}
}

const fullInstance = `{"id":"ins_1","name":"a","status":"running","desired_state":"running","type":"on_demand",
	"gpu":{"slug":"rtx_4090","name":"RTX 4090","count":1,"vram_gb":24},"template":{"slug":"ubuntu","name":"Ubuntu"},
	"image":"ubuntu:24.04",
	"disk_gb":60,"country":"NL","price":{"running_kop_h":100,"stopped_kop_h":1,"traffic_kop_gb":1},
	"ssh":{"host":"h","port":22,"user":"root","command":"ssh h"},"urls":[{"label":"l","url":"https://l"}],
	"created_at":"2026-01-01T00:00:00Z","started_at":"2026-01-01T00:01:00Z","stop_reason":"user"}`

func readInstance(t *testing.T, text string, change func(map[string]any)) rental.Instance {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	change(fields)
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var inst rental.Instance
	if err := json.Unmarshal(data, &inst); err != nil {
		t.Fatal(err)
	}
	return inst
}

// An optional field that a response omits keeps its value, and another spelling of an image is not a change.
func TestFromAPI_OmittedFieldsKeepValues(t *testing.T) {
	prior := fromAPI(model{}, readInstance(t, fullInstance, func(map[string]any) {}))
	want := fmt.Sprintf("%+v", prior)
	for name, change := range map[string]func(map[string]any){
		"vram_gb":  func(m map[string]any) { delete(m["gpu"].(map[string]any), "vram_gb") },
		"gpu":      func(m map[string]any) { m["gpu"] = map[string]any{} },
		"spelling": func(m map[string]any) { m["image"] = "docker.io/library/ubuntu:24.04" },
		"size":     func(m map[string]any) { m["disk_gb"] = 64 },
	} {
		if got := fmt.Sprintf("%+v", fromAPI(prior, readInstance(t, fullInstance, change))); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	for _, name := range []string{
		"name", "desired_state", "template", "image", "disk_gb", "country", "ssh", "urls", "created_at", "started_at",
	} {
		got := fmt.Sprintf("%+v", fromAPI(prior, readInstance(t, fullInstance, func(m map[string]any) { delete(m, name) })))
		if got != want {
			t.Errorf("without %s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// A null field is not an omitted one.
func TestFromAPI_NullFields(t *testing.T) {
	prior := fromAPI(model{}, readInstance(t, fullInstance, func(map[string]any) {}))
	for name, is := range map[string]func(model) bool{
		"name":        func(m model) bool { return m.Name.IsNull() },
		"ssh":         func(m model) bool { return m.SSH.IsNull() },
		"stop_reason": func(m model) bool { return m.StopReason.IsNull() },
	} {
		if got := fromAPI(prior, readInstance(t, fullInstance, func(m map[string]any) { m[name] = nil })); !is(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	prior.Status = types.StringValue("stopped")
	got := fromAPI(prior, readInstance(t, fullInstance, func(m map[string]any) { delete(m, "ssh") }))
	if !got.SSH.IsNull() {
		t.Error("a server that was started since keeps the address from before")
	}
}

// The desired state comes from the API and not from the status: an instance that is being stopped in the console shows
// drift at once.
func TestFromAPI_DesiredState(t *testing.T) {
	for _, status := range []rental.InstanceStatus{"running", "stopping", "stopped", "outbid", "hibernating"} {
		for _, desired := range []rental.DesiredState{"running", "stopped"} {
			got := fromAPI(stateOf("running", "running"), rental.Instance{ID: "ins_1", Status: status, DesiredState: desired})
			if got.DesiredState.ValueString() != string(desired) {
				t.Errorf("status %s heading for %s reads as %s", status, desired, got.DesiredState)
			}
		}
	}
}

// Optional fields that the API omits keep known values.
func TestFromAPI_OmittedFieldsAfterCreate(t *testing.T) {
	prior := stateOf("running", "running")
	prior.Image = types.StringValue("ubuntu:24.04")
	got := fromAPI(prior, rental.Instance{ID: "ins_1", Status: "hibernating", Type: rental.OnDemand})
	if !got.DesiredState.Equal(prior.DesiredState) || !got.Template.Equal(prior.Template) ||
		!got.Image.Equal(prior.Image) ||
		!got.DiskGB.Equal(prior.DiskGB) {
		t.Errorf("got %s, %s, %s, %s", got.DesiredState, got.Template, got.Image, got.DiskGB)
	}
	prior.Image = types.StringUnknown()
	if got := fromAPI(prior, rental.Instance{ID: "ins_1", Status: "creating"}).Image; got.IsUnknown() {
		t.Error("an image that a create response omits is unknown after the apply")
	}
	for status, want := range map[rental.InstanceStatus]string{
		"running": "running", "stopped": "stopped", "outbid": "running",
	} {
		if got := fromAPI(prior, rental.Instance{ID: "ins_1", Status: status}).DesiredState.ValueString(); got != want {
			t.Errorf("status %s without a desired state reads as %s, want %s", status, got, want)
		}
	}
}
