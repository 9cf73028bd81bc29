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
