package instance_test

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A server that was destroyed since the last refresh answers 409 to a DELETE. That is a success: it is gone.
func TestDestroyed_DeleteSucceeds(t *testing.T) {
	env := acctest.Start(t)
	h := newHost(t, env, nil)
	server, diags := h.apply(nil, keyed("trainer"))
	expect(t, "the apply", diags)
	id := env.Overview().Instances[0].ID
	if err := env.SetInstance(id, simulator.InstancePatch{Status: new("destroyed"), DesiredState: new("destroyed")}); err != nil {
		t.Fatal(err)
	}
	expect(t, "the destruction", h.destroy(server))
}

// The answer to a rename can show that the server was destroyed since the last refresh: the apply fails, and the next
// plan creates another.
func TestDestroyed_RenameFails(t *testing.T) {
	renamed := keyed("renamed", "idempotency_key", "key-trainer")
	for _, status := range []string{"destroying", "destroyed"} {
		env := acctest.Start(t)
		h := newHost(t, env, nil)
		server, diags := h.apply(nil, keyed("trainer"))
		expect(t, "the apply", diags)
		plan := h.plan(server, renamed)
		expect(t, "the plan", plan.diags)
		id := h.id(server)
		if err := env.SetInstance(id, simulator.InstancePatch{Status: &status, DesiredState: new("destroyed")}); err != nil {
			t.Fatal(err)
		}
		after, diags := h.change(server.state, plan, valueOf(h.schema().ValueType(), renamed))
		expect(t, "the rename of a server that is "+status, diags, "Instance "+id+" is gone", "The next apply rents another.")
		if h.refresh(after); !after.state.IsNull() {
			t.Errorf("%s: after the refresh the state has %v", status, after.state)
		}
	}
}
