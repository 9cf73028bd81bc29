//go:build linux

package crash

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A kill in the midst of writing a state is rare and comes when it wants; here
// the state is cut off on purpose, after an apply that created everything.
func TestAccTornState(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for name, table := range map[string]*table{
		"fixed keys":   {config: withKeys, servers: addresses, promise: heals},
		"without keys": {config: withoutKeys, servers: addresses, promise: tells},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			torn(t, table, func(*cell) {})
		})
	}
}

// The backup is the state before the apply, in which half of the fleet is missing.
func TestAccTornState_withBackup(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	c := torn(t, &table{config: withKeys, servers: addresses, promise: heals}, func(c *cell) {
		c.command(0, "apply", "-auto-approve", "-target=gpurent_instance.quoted")
	})
	if c.count.takenOver != len(addresses)-1 {
		t.Errorf("%d servers were taken over, want all but the one that the backup has", c.count.takenOver)
	}
}

// torn tears the state of an apply that came after something else.
func torn(t *testing.T, table *table, after func(*cell)) *cell {
	t.Helper()
	c := newCell(t, table, newTrap(kind{kills: true, loses: true}, 0))
	c.Cleanup(c.explain)
	after(c)
	c.breakOff()
	c.space.Tear()
	c.command(1, "plan") // it refuses to go on
	c.code = -1          // as if it had been killed
	if c.mend(); c.count.torn != 1 {
		t.Fatal("half a state was taken for a whole one")
	}
	table.promise(c)
	c.command(0, "plan", "-detailed-exitcode")
	return c
}
