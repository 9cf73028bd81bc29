//go:build linux

package crash

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A kill while the CLI writes the state is rare and cannot be timed. Here the test truncates the state after an apply
// that has created everything.
func TestAccTruncatedState(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for name, table := range map[string]*table{
		"fixed keys":   {config: withKeys, servers: addresses, check: checkReapply},
		"without keys": {config: withoutKeys, servers: addresses, check: checkImport},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testTruncated(t, table)
		})
	}
}

// The backup is the state before the apply, which does not contain half of the servers.
func TestAccTruncatedState_withBackup(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	c := testTruncated(t, &table{config: withKeys, servers: addresses, check: checkReapply, prepare: func(c *cell) {
		c.command(0, "apply", "-auto-approve", "-target=gpurent_instance.quoted")
	}})
	if c.counts["recovered"] != len(addresses)-1 {
		t.Errorf("%d servers were recovered, want all except the one in the backup", c.counts["recovered"])
	}
}

// testTruncated truncates the state of an apply.
func testTruncated(t *testing.T, table *table) *cell {
	t.Helper()
	c := newCell(t, table, newInterceptor(failure{kills: true, orphans: true}, 0))
	c.Cleanup(c.explain)
	c.breakApply()
	c.workspace.TruncateState()
	c.plan(1)       // the CLI rejects the state
	c.exitCode = -1 // as after a kill
	if c.restoreTruncatedState(); c.counts["truncated states"] != 1 {
		t.Fatal("the truncated state was not detected")
	}
	table.check(c)
	c.plan(0)
	return c
}
