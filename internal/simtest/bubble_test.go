package simtest_test

import (
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// An example to copy. The response to a creation is lost: the client repeats the request with its key, and one instance
// is rented. It runs after the boot, although the list returns it later.
func TestInBubble(t *testing.T) {
	config := simulator.Config{Boot: time.Minute, Hooks: quirks.New("lagging-list")}
	simtest.InBubble(t, config, func(t *testing.T, b *simtest.Bubble) {
		b.Proxy.Set(simtest.Creates("one").Once().Do(simtest.LoseResponse))
		began := time.Now()
		inst := b.Rent("one")
		if requests := b.CountRequests("POST", "/instances"); requests != 2 || len(b.Active()) > 0 {
			t.Errorf("%d requests, %d instances are listed at once", requests, len(b.Active()))
		}
		time.Sleep(2 * time.Minute)
		active := b.Active()
		if len(active) != 1 || active[0].ID != inst.ID || active[0].Status != rental.StatusRunning {
			t.Errorf("after two minutes: %+v", active)
		}
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("it took %s of fake time", took)
		}
	})
}
