package instance

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

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

// An optional field that a response omits keeps its value. So do an image in another spelling and a larger disk.
func TestFromAPI_OmittedFieldsKeepValues(t *testing.T) {
	prior := fromAPI(model{}, readInstance(t, fullInstance, func(map[string]any) {}))
	want := fmt.Sprintf("%+v", prior)
	without := func(name string) func(map[string]any) { return func(m map[string]any) { delete(m, name) } }
	changes := map[string]func(map[string]any){
		"vram_gb":  func(m map[string]any) { delete(m["gpu"].(map[string]any), "vram_gb") },
		"gpu":      func(m map[string]any) { m["gpu"] = map[string]any{} },
		"name":     func(m map[string]any) { m["name"] = "A " },
		"spelling": func(m map[string]any) { m["image"] = "docker.io/library/ubuntu:24.04" },
		"size":     func(m map[string]any) { m["disk_gb"] = 64 },
	}
	for _, name := range []string{
		"name", "desired_state", "template", "image", "disk_gb", "country", "ssh", "urls", "created_at", "started_at",
	} {
		changes["without "+name] = without(name)
	}
	for name, change := range changes {
		if got := fmt.Sprintf("%+v", fromAPI(prior, readInstance(t, fullInstance, change))); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// A null field is not an omitted one.
func TestFromAPI_NullFields(t *testing.T) {
	prior := fromAPI(model{}, readInstance(t, fullInstance, func(map[string]any) {}))
	for name, is := range map[string]func(model) bool{
		"name":        func(m model) bool { return m.Name.IsNull() },
		"ssh":         func(m model) bool { return m.SSH.Equal(tfinstance.SSHValue(nil)) },
		"stop_reason": func(m model) bool { return m.StopReason.IsNull() },
	} {
		if got := fromAPI(prior, readInstance(t, fullInstance, func(m map[string]any) { m[name] = nil })); !is(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	prior.Status = types.StringValue("stopped")
	got := fromAPI(prior, readInstance(t, fullInstance, func(m map[string]any) { delete(m, "ssh") }))
	if !got.SSH.Equal(tfinstance.SSHValue(nil)) {
		t.Error("a server that was started since keeps the address from before")
	}
}

// The desired state comes from the API and not from the status, so that a stop in the console is drift at once. If the
// response omits it, the status decides. What a response to a creation omits is known after the apply.
func TestFromAPI_DesiredState(t *testing.T) {
	prior := model{Arguments: tfinstance.Arguments{
		DesiredState: types.StringValue("running"), Image: types.StringUnknown(),
	}}
	for status, omitted := range map[rental.InstanceStatus]string{
		"creating": "running", "running": "running", "stopping": "running", "stopped": "stopped", "outbid": "running",
		"hibernating": "running",
	} {
		for desired, want := range map[rental.DesiredState]string{"running": "running", "stopped": "stopped", "": omitted} {
			got := fromAPI(prior, rental.Instance{ID: "ins_1", Status: status, DesiredState: desired})
			if got.DesiredState.ValueString() != want || got.Image.IsUnknown() {
				t.Errorf("status %s heading for %q reads as %s; image %s", status, desired, got.DesiredState, got.Image)
			}
		}
	}
}
