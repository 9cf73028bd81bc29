//go:build linux

package crash

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	// fleetSize is the largest size of the fleet.
	fleetSize = 5
	// diskGB is the disk size of its members.
	diskGB = 20
)

// fleetConfig returns a configuration with a fleet. The arguments are those of the provider.
func fleetConfig(arguments string, size, diskGB int) string {
	return provider(arguments) + fmt.Sprintf(`
resource "gpurent_fleet" "crash" {
  name            = "crash"
  size            = %d
  template        = "pytorch"
  disk_gb         = %d
  update          = "rolling"
  max_unavailable = 3
  offer_queries   = [{ gpu = ["rtx_4090"] }, {}]
  ssh_key_ids     = []
}
`, size, diskGB)
}

// Applying again also repairs each change of a fleet, and destroying again its destruction.
func TestAccCrashMatrix_fleet(t *testing.T) { testFleet(t, "") }

// With idempotency_prefix, that includes its creation.
func TestAccCrashMatrix_fleetWithPrefix(t *testing.T) { testFleet(t, `idempotency_prefix = "crash"`) }

func testFleet(t *testing.T, arguments string) {
	t.Helper()
	destroy := []string{"-destroy"}
	config := func(size int) string { return fleetConfig(arguments, size, diskGB) }
	existing := func(size int) func(*cell) {
		return func(c *cell) { c.create(config(size)) }
	}
	unhealthy := func(c *cell) { createUnhealthy(c, config(fleetSize)) }
	for _, change := range []struct {
		name, sample string
		prepare      func(*cell) // creates the fleet before
		size         int         // after the change
		flags        []string    // of the change
		next         []string    // flags of the apply after the broken one
		updates      bool        // the change replaces all members
		replaces     bool        // the change also replaces the fleet
	}{
		{name: "create", sample: "cli-killed/after POST /instances", size: fleetSize},
		{name: "scale up", prepare: existing(3), size: fleetSize},
		{name: "heal", sample: "provider-killed/after DELETE /instances", prepare: unhealthy, size: fleetSize},
		{name: "update", prepare: existing(fleetSize), size: fleetSize, updates: true},
		{name: "replace", prepare: existing(3), size: 3, updates: true, replaces: true},
		{name: "scale down", prepare: existing(fleetSize), size: 2},
		{name: "destroy", prepare: existing(fleetSize), size: fleetSize, flags: destroy, next: destroy},
		{
			name: "scale up, then destroy", sample: "all-killed/after POST /instances", prepare: existing(3), size: fleetSize,
			next: destroy,
		},
		{name: "heal, then destroy", prepare: unhealthy, size: fleetSize, next: destroy},
	} {
		creates := change.prepare == nil || change.replaces
		if arguments != "" && !creates {
			continue // the keys are the same as without a prefix
		}
		tb := &table{
			flags: change.flags, failures: slices.Concat(interruptions, faults), sample: change.sample,
			config: func() string { return config(change.size) },
			check: func(c *cell) {
				c.flags = change.next
				if state := saved(c.workspace, "gpurent_fleet"); len(state) > 0 && state[0].Tainted {
					c.command(0, "untaint", "gpurent_fleet.crash") // as in the error
				}
				if creates && arguments == "" {
					c.findAbandoned()
				}
				c.apply()
				c.checkMembers(change.size)
			},
		}
		if change.replaces {
			tb.config = func() string {
				return strings.NewReplacer(`"pytorch"`, `"ubuntu"`, `"rolling"`, `"replace"`).Replace(config(change.size))
			}
		} else if change.updates {
			tb.config = func() string { return fleetConfig(arguments, change.size, 2*diskGB) }
		}
		if change.prepare != nil {
			tb.prepare = func(c *cell) {
				change.prepare(c)
				c.workspace.Configure(tb.config())
				c.before = readAccount(c.env)
				c.keeps = !change.updates
			}
		}
		t.Run(change.name, tb.test)
	}
}

// create creates the fleet.
func (c *cell) create(config string) {
	c.Helper()
	c.workspace.Configure(config)
	c.command(0, "apply", "-auto-approve")
}

// createUnhealthy creates the fleet. Then one of its members fails, and one is destroyed outside Terraform.
func createUnhealthy(c *cell, config string) {
	c.create(config)
	members := members(c.workspace)
	if err := c.env.SetInstance(members[1].ID, simulator.InstancePatch{Status: new("failed")}); err != nil {
		c.Fatal(err)
	}
	c.env.Delete("instances/" + members[3].ID)
	c.env.Advance(time.Minute)
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

// findAbandoned finds what a killed creation without a chosen key has rented. The next plan names these servers, and
// nothing ever takes, changes or destroys them.
func (c *cell) findAbandoned() {
	c.Helper()
	state := members(c.workspace)
	c.abandoned = without(readAccount(c.env).live, state[:])
	if len(c.abandoned) == 0 {
		return
	}
	if !c.breaker.failure.kills {
		c.Errorf("not in the state: %v", c.abandoned)
	}
	plan := c.command(0, "plan")
	for polls := 0; polls < 5 && !strings.Contains(plan, c.abandoned[0].ID); polls++ {
		c.env.Advance(time.Minute) // lists may lag or omit names
		plan = c.command(0, "plan")
	}
	for _, one := range c.abandoned {
		if !strings.Contains(plan, one.ID) {
			c.Errorf("the plan does not name %v", one)
		}
	}
}

// checkMembers expects the existing instances to be the members in the state: those that ran before the broken apply,
// and one new instance for each other slot. After a destruction it expects none.
func (c *cell) checkMembers(size int) {
	c.Helper()
	left, fleets := size, 1
	if c.flags != nil {
		left, fleets = 0, 0
	}
	if state := saved(c.workspace, "gpurent_fleet"); len(state) != fleets || fleets > 0 && state[0].Tainted {
		c.Errorf("the state has %d fleets, want %d that is not tainted: %v", len(state), fleets, state)
	}
	now, state := readAccount(c.env), members(c.workspace)
	if gone := without(c.abandoned, now.live); len(gone) > 0 {
		c.Errorf("servers that are no members were destroyed: %v", gone)
	}
	now.live, now.all = without(now.live, c.abandoned), without(now.all, c.abandoned)
	if orphans := without(now.live, state[:]); len(orphans) > 0 || len(now.live) != left {
		c.Errorf("%d instances exist, want %d; not in the state: %v", len(now.live), left, orphans)
	}
	for slot, member := range state {
		before, after, live := inSlot(c.before.all, slot), inSlot(now.all, slot), inSlot(now.live, slot)
		ran := slices.IndexFunc(before, func(o object) bool { return c.keeps && o.Status == "running" })
		rented := len(after) - len(before)
		most := 0
		if slot < size && ran < 0 {
			most = 1
		}
		if rented > most || rented < most && left > 0 {
			c.Errorf("slot %d: %d instances were rented, want %d: %v", slot, rented, most, after)
		}
		switch {
		case slot >= left && member.ID != "":
			c.Errorf("slot %d is in the state: %v", slot, member)
		case slot < left && (len(live) != 1 || live[0].ID != member.ID):
			c.Errorf("slot %d: the state has %v, and the API %v", slot, member, live)
		case slot < left && ran >= 0 && member.ID != before[ran].ID:
			c.Errorf("slot %d: %v replaced %v", slot, member, before[ran])
		}
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
