package instance_test

import (
	"fmt"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Limits of a provider block are compared at plan with each instance alone, and right before each rental with all.
func TestAccInstance_spending(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The test compares the balance, and the instances of the neighbours quirk exceed the limit.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours"))
	env.AddSSHKey()
	_, price := cheapestOffer(env)
	config := func(spending string, arguments ...string) string {
		query := `{ gpu = ["rtx_4090"], num_gpus = [1] }`
		return env.Provider("spending = { "+spending+" }") + configByQuery(query, arguments...)
	}
	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(2*price - 100), CreditLimitKop: new(int64(0))}))
	w := env.Workspace(config(``))
	expectOutput(t, w.Run("plan", "-no-color"), "Warning: Insufficient balance for this plan", "Missing: ", "per month)")
	w.Configure(config(`require_funds = "error"`))
	fails := func(want string) {
		t.Helper()
		output, err := w.Try("apply", "-auto-approve", "-no-color")
		if expectOutput(t, output, want); err == nil {
			t.Error("the apply succeeds")
		}
	}
	fails("Error: Insufficient balance for this plan")
	expectCount(t, env, 0, 0)

	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1e9))}))
	limit := fmt.Sprintf("max_burn_kop_h = %d", price*3/2) // for one instance with its disk, and not for two
	w.Configure(config(limit, "count = 2"))
	w.Run("plan", "-no-color") // each one alone
	fails("Error: " + burnLimitExceeded)
	expectOutput(t, w.Run("plan", "-no-color"), "Warning: "+burnLimitExceeded)
	expectCount(t, env, 1, 1)
	w.Run("destroy", "-auto-approve", "-no-color") // before it, a CLI plans the second one, too
	w.Configure(config(limit))
	w.Run("apply", "-auto-approve", "-no-color")
	// A replacement does not add to its predecessor, and a running instance does not prevent other changes.
	w.Run("apply", "-auto-approve", "-no-color", "-replace="+address)
	w.Configure(config(limit, `name = "a"`))
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("destroy", "-auto-approve", "-no-color")
	expectCount(t, env, 0, 3)
}
