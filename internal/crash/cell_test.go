//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// commandTimeout is the time after which a command counts as hanging.
const commandTimeout = 2 * time.Minute

// cell is a cell of the matrix during its test.
type cell struct {
	*testing.T
	table     *table
	breaker   *breaker
	env       *acctest.Env
	workspace *acctest.Workspace
	before    account
	flags     []string // of the plans and applies after the broken one
	keeps     bool     // the broken apply keeps the running members of a fleet
	abandoned []object // servers that a killed creation without a chosen key has rented
	exitCode  int      // of the broken apply
	log       []string // the output of every command
}

// newCell starts a service and creates a workspace.
func newCell(t *testing.T, tb *table, b *breaker) *cell {
	t.Helper()
	b.started = make(chan struct{})
	c := &cell{T: t, table: tb, breaker: b}
	// Each cell has exactly one failure. With these quirks, it would be unclear which failure lost something.
	c.env = acctest.Start(t, acctest.Intercept(simtest.AnyRequest.Do(b.secrets.Intercept)),
		acctest.Intercept(simtest.AnyRequest.Do(b.intercept)),
		acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	// GOGC=400 saves a quarter of the CPU time.
	c.workspace = c.env.Workspace(tb.config(), append(acctest.Traced(), "GOGC=400")...)
	b.workspace = c.workspace
	c.before = readAccount(c.env)
	return c
}

// test breaks an apply and checks the results of the next commands.
func (c *cell) test() {
	c.Cleanup(c.explain)
	c.breakApply()
	if !c.breaker.triggered() {
		if c.exitCode != 0 {
			c.Errorf("an apply without a failure ended with exit code %d", c.exitCode)
		}
		return
	}
	c.table.count("cells", 1)
	if c.breaker.err != nil {
		c.Fatal(c.breaker.err)
	}
	if c.breaker.failure.kills {
		c.table.count("kills", 1)
		if c.breaker.killed == 0 {
			c.Fatal("there was no provider to kill")
		}
	}
	c.table.check(c)
	c.plan(0) // no changes
	c.breaker.secrets.Check(c, map[string]string{"output": strings.Join(c.log, "\n"), "log": c.workspace.Trace()})
}

// breakApply prepares the apply and runs it with the failure. It returns when all processes have ended, including a
// provider that runs on without its CLI, and the service has processed all of their requests.
func (c *cell) breakApply() {
	if c.table.prepare != nil {
		c.table.prepare(c)
	}
	ctx, cancel := context.WithTimeout(c.Context(), commandTimeout)
	defer cancel()
	c.breaker.setActive(true)
	run := c.workspace.Start(ctx, append([]string{"apply", "-auto-approve", "-no-color"}, c.table.flags...)...)
	c.breaker.run = run
	close(c.breaker.started)
	var output string
	output, c.exitCode = run.Wait()
	c.env.WaitForService()
	c.breaker.setActive(false)
	c.logOutput("broken apply", output, c.exitCode)
	c.restoreTruncatedState()
	if ctx.Err() != nil {
		c.Fatal("the apply hung")
	}
}

// restoreTruncatedState renames a truncated state file, as the guide describes. Only a CLI that was killed may leave a
// truncated file.
func (c *cell) restoreTruncatedState() {
	c.Helper()
	if !c.workspace.RestoreTruncatedState() {
		return
	}
	c.table.count("truncated states", 1)
	c.logOutput("the truncated state was renamed", "", 0)
	if c.exitCode != -1 {
		c.Error("the CLI was not killed, but left a truncated state")
	}
}

func (c *cell) logOutput(command, output string, exitCode int) {
	c.log = append(c.log, fmt.Sprintf("--- %s: exit code %d\n%s", command, exitCode, output))
}

// command runs a command, expects an exit code, and returns the output.
func (c *cell) command(want int, arguments ...string) string {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), commandTimeout)
	defer cancel()
	output, exitCode := c.workspace.Start(ctx, append(arguments, "-no-color")...).Wait()
	c.logOutput(strings.Join(arguments, " "), output, exitCode)
	if exitCode != want {
		c.Fatalf("%s ended with exit code %d, want %d", arguments[0], exitCode, want)
	}
	return output
}

// apply runs an apply, which must succeed, and returns the output.
func (c *cell) apply() string {
	c.Helper()
	return c.command(0, append([]string{"apply", "-auto-approve"}, c.flags...)...)
}

// plan runs a plan and expects an exit code, which is 2 for a plan with changes.
func (c *cell) plan(want int) {
	c.Helper()
	c.command(want, append([]string{"plan", "-detailed-exitcode"}, c.flags...)...)
}

// explain logs, for a failed cell, its request, the output of all commands, and how to run the cell alone.
func (c *cell) explain() {
	if !c.Failed() {
		return
	}
	c.Logf("request %d of the apply in %s", c.breaker.at, strings.Join(c.breaker.requests, ", "))
	c.Logf("%s", strings.Join(c.log, "\n"))
	cli := "terraform"
	if os.Getenv("TF_ACC_PROVIDER_HOST") != "" {
		cli = "tofu"
	}
	c.Logf("repeat: make crash CLI=%s RUN='^%s$'", cli, strings.ReplaceAll(c.Name(), "/", "$/^"))
}
