//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const (
	// hang is when a command is taken for one that never ends.
	hang = 2 * time.Minute
	// last is how long the last request of a killed provider may be on its way.
	last = 20 * time.Millisecond
)

// cell is one point of a matrix, while it is being tried.
type cell struct {
	*testing.T
	table  *table
	trap   *trap
	env    *acctest.Env
	space  *acctest.Workspace
	before world
	code   int      // of the apply that is broken off
	told   []string // what every command printed
	count  tally
}

// newCell makes a service and a workspace.
func newCell(t *testing.T, tb *table, p *trap) *cell {
	c := &cell{T: t, table: tb, trap: p}
	// Each cell has one failure of its own: with more, it could not be told which one lost something.
	c.env = acctest.Start(t, acctest.WithWrap(p.wrap), acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	// The first spares a quarter of the processor time.
	c.space = c.env.Workspace(tb.config(), append(acctest.Traced(), "GOGC=400")...)
	c.before = look(c.env)
	return c
}

// try breaks an apply and holds what comes after to the promise.
func (c *cell) try() {
	c.Cleanup(c.explain)
	c.breakOff()
	if !c.trap.sprung {
		if c.code != 0 {
			c.Errorf("an apply that nothing happened to ended with %d", c.code)
		}
		return
	}
	if c.trap.err != nil {
		c.Fatal(c.trap.err)
	}
	if c.trap.kind.kills {
		c.count.hits = 1
		if c.trap.killed == 0 {
			c.Fatal("there was no provider to kill")
		}
	}
	c.table.promise(c)
	c.command(0, "plan", "-detailed-exitcode") // nothing to change
	c.secrets()
}

// breakOff runs the apply that the trap is for. A provider that outlives its CLI ends
// by itself.
func (c *cell) breakOff() {
	ctx, cancel := context.WithTimeout(c.Context(), hang)
	defer cancel()
	c.trap.arm()
	run := c.space.Start(ctx, "apply", "-auto-approve", "-no-color")
	c.trap.aim(run)
	var output string
	output, c.code = run.Wait()
	c.trap.untilQuiet(last)
	c.trap.disarm()
	c.tell("apply that is broken off", output, c.code)
	c.mend()
	if ctx.Err() != nil {
		c.Fatal("the apply hung")
	}
}

// mend does what the guide says of a state that was cut off: put it aside. Only a
// CLI that was killed may leave one.
func (c *cell) mend() {
	c.Helper()
	if !c.space.PutAsideTorn() {
		return
	}
	c.count.torn = 1
	c.tell("the state is cut off and was put aside", "", 0)
	if c.code != -1 {
		c.Error("the CLI ended by itself, and left half a state")
	}
}

func (c *cell) tell(what, output string, code int) {
	c.told = append(c.told, fmt.Sprintf("--- %s: exit code %d\n%s", what, code, output))
}

// command runs a command to its end and returns what it printed.
func (c *cell) command(want int, arguments ...string) string {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), hang)
	defer cancel()
	output, code := c.space.Start(ctx, append(arguments, "-no-color")...).Wait()
	c.tell(strings.Join(arguments, " "), output, code)
	if code != want {
		c.Fatalf("%s ended with %d, want %d", arguments[0], code, want)
	}
	return output
}

// heals holds the cell to the promise that applying again is all it takes.
func heals(c *cell) {
	output := c.command(0, "apply", "-auto-approve")
	c.count.takenOver = strings.Count(output, "Recovered instance")
	c.exactlyTheFleet()
}

// tells holds the cell to the promise that is left without idempotency keys: a
// server that was rented by something that died is no secret. The next plan
// names it and shows how to import it; that done, the apply heals.
func tells(c *cell) {
	lost := without(look(c.env).live, saved(c.space, "gpurent_instance"))
	if len(lost) > 0 {
		if !c.trap.kind.kills {
			c.Errorf("servers %v are in no state", lost)
		}
		c.count.imported = len(lost)
		c.adopt(lost)
	}
	c.command(0, "apply", "-auto-approve")
	c.exactlyTheFleet()
}

// adopt does what the plan advises. Where the state of the template died as well,
// it imports that too: to be of another template means to be replaced.
func (c *cell) adopt(lost []thing) {
	plan := acctest.Words(c.command(0, "plan"))
	template := c.lostTemplate(look(c.env))
	config := c.table.config() + template
	if template != "" {
		c.count.templates++
	}
	for _, server := range lost {
		config += importing(addresses[server.Name], server.ID)
		if !regexp.MustCompile(`import \{ to = \S+ id = "` + server.ID + `" \}`).MatchString(plan) {
			c.Errorf("the plan has no import block for server %s", server.ID)
		}
	}
	c.space.Configure(config)
}

// lostTemplate is a block that imports the template of living servers when it is
// in no state. OpenTofu saves what it has created at the end or every 20 seconds,
// Terraform at once; but whoever kills Terraform while it writes finds an empty
// state, or half of one.
func (c *cell) lostTemplate(now world) string {
	if len(saved(c.space, "gpurent_template")) > 0 {
		return ""
	}
	for _, server := range now.live {
		for _, template := range without(now.templates, c.before.templates) {
			if server.Template.Slug == template.Slug {
				if c.code != -1 {
					c.Error("the CLI ended by itself, and did not save the template")
				}
				return importing("gpurent_template.crash", template.Slug)
			}
		}
	}
	return ""
}

// exactlyTheFleet: what is alive is what is saved, and each was rented once.
func (c *cell) exactlyTheFleet() {
	c.Helper()
	addresses := c.table.servers
	now, state := look(c.env), saved(c.space, "gpurent_instance")
	rented := map[string]int{}
	for _, server := range now.ever {
		rented[server.Name]++
	}
	for name := range addresses {
		if rented[name] != 1 {
			c.count.duplicates += max(rented[name]-1, 0)
			c.Errorf("server %s was rented %d times", name, rented[name])
		}
	}
	if len(now.ever) != len(addresses) || len(now.live) != len(addresses) || len(state) != len(addresses) {
		c.Errorf("%d servers were ever rented, %d are alive, %d are saved, want %d of each", len(now.ever), len(now.live), len(state), len(addresses))
	}
	c.count.orphans += len(without(now.live, state))
	if stray, gone := without(now.live, state), without(state, now.live); len(stray)+len(gone) > 0 {
		c.Errorf("alive and not saved: %v; saved and not alive: %v", stray, gone)
	}
	for _, server := range state {
		if server.Tainted || server.Status != "running" {
			c.Errorf("server %+v is not in order", server)
		}
	}
	c.added("gpurent_ssh_key", c.before.keys, now.keys)
	c.added("gpurent_template", c.before.templates, now.templates)
}

// added expects one thing more than there was, and it saved. They have no
// idempotency key: when a process died with the answer, there may be another,
// which costs nothing. It returns that one.
func (c *cell) added(kind string, before, now []thing) (stray []thing) {
	c.Helper()
	state := saved(c.space, kind)
	fresh := without(now, before)
	if len(state) != 1 || len(without(state, fresh)) != 0 {
		c.Errorf("%s: saved are %v, new in the account are %v", kind, state, fresh)
	}
	stray = without(fresh, state)
	c.count.free += len(stray)
	if len(stray) > 1 || len(stray) > 0 && !c.trap.kind.loses {
		c.Errorf("%s: %v are there and not saved", kind, stray)
	}
	return stray
}

// keeps is the promise for an issued API key.
func keeps(c *cell) {
	c.command(0, "apply", "-auto-approve")
	c.revoke(c.added("gpurent_api_key", c.before.apiKeys, look(c.env).apiKeys))
}

// revokes is the promise for a key that lives as long as a run: it ends with what it
// was made for, unless who has to revoke it is killed. Then it expires.
func revokes(c *cell) {
	c.count.open = c.openKeys(c.before.apiKeys, c.trap.kind.leaves())
	open := look(c.env).apiKeys
	heals(c)
	c.openKeys(open, 0)
}

// openKeys is how many there are besides the known ones. They are then revoked.
func (c *cell) openKeys(known []thing, most int) int {
	c.Helper()
	left := without(look(c.env).apiKeys, known)
	if len(left) > most {
		c.Errorf("%d keys are left, want %d at most: %v", len(left), most, left)
	}
	for _, key := range left {
		if lives := key.ExpiresAt.Sub(key.CreatedAt); lives != 24*time.Hour {
			c.Errorf("key %s lives %s", key.ID, lives)
		}
	}
	c.revoke(left)
	return len(left)
}

// revoke revokes what a killed provider could not, as a user would.
func (c *cell) revoke(keys []thing) {
	for _, key := range keys {
		c.env.Delete("api-keys/" + key.ID)
	}
}

// secrets may be neither in the logs nor in what was printed.
func (c *cell) secrets() {
	c.Helper()
	texts := map[string]string{"output": strings.Join(c.told, "\n"), "log": c.space.Trace()}
	for secret := range c.trap.secrets {
		if err := acctest.Leak(secret, texts); err != nil {
			c.Error(err)
		}
	}
}

// explain says of a cell that failed where it was and how to run it alone.
func (c *cell) explain() {
	if !c.Failed() {
		return
	}
	c.Logf("request %d of the apply: %s", c.trap.number, c.trap.target())
	c.Logf("requests: %s", strings.Join(c.trap.seen, ", "))
	c.Logf("%s", strings.Join(c.told, "\n"))
	host := ""
	if h := os.Getenv("TF_ACC_PROVIDER_HOST"); h != "" {
		host = " TF_ACC_PROVIDER_HOST=" + h
	}
	c.Logf("only this one: TF_ACC=1 TF_ACC_TERRAFORM_PATH=%s%s go test -count=1 ./internal/crash -crash.every=1 -run '^%s$'",
		os.Getenv("TF_ACC_TERRAFORM_PATH"), host, strings.ReplaceAll(c.Name(), "/", "$/^"))
}
