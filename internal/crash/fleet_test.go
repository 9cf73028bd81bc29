//go:build linux

package crash

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// fleetSize is the largest size of the fleet.
const fleetSize = 5

func fleetOf(size int) string {
	return provider("") + fmt.Sprintf(`
resource "gpurent_fleet" "crash" {
  name          = "crash"
  size          = %d
  template      = "pytorch"
  disk_gb       = 20
  offer_queries = [{ gpu = ["rtx_4090"] }, {}]
  ssh_key_ids   = []
}
`, size)
}

// Applying again also repairs each change of a fleet, and destroying again its destruction.
func TestAccCrashMatrix_fleet(t *testing.T) {
	all := slices.Concat(interruptions, faults)
	for i, change := range []struct {
		name      string
		from, to  int // sizes
		unhealthy bool
		flags     []string
	}{
		{name: "create", to: fleetSize},
		{name: "scale up", from: 3, to: fleetSize},
		{name: "heal", from: fleetSize, to: fleetSize, unhealthy: true},
		{name: "scale down", from: fleetSize, to: 2},
		{name: "destroy", from: fleetSize, flags: []string{"-destroy"}},
	} {
		first := len(all) - 2*(i+1) // a sample takes other failures from each table
		tb := &table{
			name: "fleet " + change.name, flags: change.flags, failures: slices.Concat(all[first:], all[:first]), rare: 4,
			config: func() string { return fleetOf(change.to) },
			check: func(c *cell) {
				c.counts.recovered = recoveredMembers(c.apply())
				c.checkMembers(change.to)
			},
		}
		if change.from > 0 {
			tb.prepare = func(c *cell) { c.prepareFleet(change.from, change.unhealthy) }
		}
		t.Run(change.name, tb.test)
	}
}

// prepareFleet creates a fleet before the apply to break. With unhealthy, one of its members has failed, and one was
// destroyed outside Terraform.
func (c *cell) prepareFleet(size int, unhealthy bool) {
	c.Helper()
	c.workspace.Configure(fleetOf(size))
	c.command(0, "apply", "-auto-approve")
	c.workspace.Configure(c.table.config())
	if unhealthy {
		members := members(c.workspace)
		failed := simulator.InstancePatch{Status: new("failed")}
		if err := c.env.SetInstance(members[1].ID, failed); err != nil {
			c.Fatal(err)
		}
		c.env.Delete("instances/" + members[3].ID)
		c.env.Advance(time.Minute)
	}
	c.before = readAccount(c.env)
}

// members returns the members of the fleet in the state, by slot. Without a member, a slot has no id.
func members(w *acctest.Workspace) (bySlot [fleetSize]object) {
	for _, fleet := range saved(w, "gpurent_fleet") {
		for slot := range bySlot {
			bySlot[slot] = fleet.Instances[strconv.Itoa(slot)]
		}
	}
	return bySlot
}

var recovery = regexp.MustCompile(`An earlier run created (\d+) members`)

// recoveredMembers returns the number of recovered members that the output of an apply reports.
func recoveredMembers(output string) (n int) {
	if parts := recovery.FindStringSubmatch(acctest.WithoutFrame(output)); parts != nil {
		n, _ = strconv.Atoi(parts[1]) //nolint:errcheck // it consists of digits
	}
	return n
}

// checkMembers expects the existing instances to be the members in the state: those that ran before the broken apply,
// and one new instance for each other slot.
func (c *cell) checkMembers(size int) {
	c.Helper()
	now, state := readAccount(c.env), members(c.workspace)
	if orphans := without(now.live, state[:]); len(orphans) > 0 {
		c.counts.orphans += len(orphans)
		c.Errorf("in the API but not in the state: %v", orphans)
	}
	if len(now.live) != size {
		c.Errorf("%d instances exist, want %d", len(now.live), size)
	}
	for slot, member := range state {
		before, after := inSlot(c.before.all, slot), inSlot(now.all, slot)
		at := slices.IndexFunc(before, func(o object) bool { return o.Status == "running" })
		rented := len(after) - len(before)
		want := 0
		if slot < size && at < 0 {
			want = 1
		}
		if rented != want {
			c.counts.duplicates += max(rented-want, 0)
			c.Errorf("slot %d: %d instances were rented, want %d: %v", slot, rented, want, after)
		}
		switch {
		case slot >= size && member.ID != "":
			c.Errorf("slot %d is in the state: %v", slot, member)
		case slot < size && (len(inSlot(now.live, slot)) != 1 || len(without(inSlot(now.live, slot), state[slot:slot+1])) > 0):
			c.Errorf("slot %d: the state has %v, and the API %v", slot, member, inSlot(now.live, slot))
		case slot < size && at >= 0 && member.ID != before[at].ID:
			c.Errorf("slot %d: %v replaced %v", slot, member, before[at])
		}
	}
	c.checkFleetState()
}

// checkFleetState expects one fleet in the state, which is not tainted, or none after its destruction.
func (c *cell) checkFleetState() {
	c.Helper()
	want := 1 - len(c.table.flags)
	fleets := saved(c.workspace, "gpurent_fleet")
	if len(fleets) != want || want > 0 && fleets[0].Tainted {
		c.Errorf("the state has %d fleets, want %d that is not tainted: %v", len(fleets), want, fleets)
	}
}

// inSlot returns the instances with the name of a member.
func inSlot(instances []object, slot int) (found []object) {
	for _, one := range instances {
		if one.Name == fmt.Sprintf("crash-%d", slot) {
			found = append(found, one)
		}
	}
	return found
}
