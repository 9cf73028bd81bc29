//go:build linux

package crash

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A kill while the CLI writes the state is rare and cannot be timed. Here the test truncates the state after an apply
// that has created everything. The backup is the state before the apply. In the sample, it has one of the servers.
func TestAccTruncatedState(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for name, tb := range map[string]*table{
		"with backup": {config: withKeys, servers: addresses, check: checkReapply, prepare: func(c *cell) {
			c.command(0, "apply", "-auto-approve", "-target=gpurent_instance.quoted")
		}},
		"fixed keys":   {config: withKeys, servers: addresses, check: checkReapply},
		"without keys": {config: withoutKeys, servers: addresses, check: checkImport},
	} {
		t.Run(name, func(t *testing.T) {
			if tb.prepare == nil && *every == 0 {
				t.Skip("make crash runs this part of the matrix")
			}
			t.Parallel()
			c := newCell(t, tb, &breaker{failure: failure{kills: true, orphans: true}})
			c.Cleanup(c.explain)
			c.breakApply()
			state := c.workspace.Read("terraform.tfstate")
			c.workspace.Write("terraform.tfstate", state[:len(state)/2])
			c.plan(1)       // the CLI rejects the state
			c.exitCode = -1 // as after a kill
			if c.restoreTruncatedState(); tb.counts["truncated states"] != 1 {
				t.Fatal("the truncated state was not detected")
			}
			tb.check(c)
			c.plan(0)
			if tb.prepare != nil && tb.counts["recovered"] != len(addresses)-1 {
				t.Errorf("%d servers were recovered, want all except the one in the backup", tb.counts["recovered"])
			}
		})
	}
}
