package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// An apply rents until max_burn_kop_h is reached, whatever the order of the resources is, and never more. The next
// apply, with a limit that suffices, rents the rest.
func TestAccSpending_limitOfAnApply(t *testing.T) {
	t.Parallel()
	const config = `
resource "gpurent_instance" "a" {
  count           = 4
  name            = "a-${count.index}"
  idempotency_key = "a-${count.index}"
  template        = "pytorch"
  disk_gb         = 60
  offer_query     = {}
}

resource "gpurent_fleet" "b" {
  name          = "b"
  size          = 4
  min_ready     = 1
  template      = "pytorch"
  disk_gb       = 60
  offer_queries = [{}]
}
`
	const servers = 8
	// The limit cannot be compared without a balance, and counts the servers of the neighbours quirk.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours"))
	env.AddSSHKey()
	limited := func(limit int64) string {
		return env.Provider(fmt.Sprintf("spending = { max_burn_kop_h = %d }", limit)) + config
	}
	var limit int64 // half of what all of them cost at least
	for _, offer := range env.Offers("")[:servers] {
		limit += offer.Price.OnDemandKopH / 2
	}
	w := env.Workspace(limited(limit)) // the plan compares each resource alone
	output, err := w.Try("apply", "-auto-approve", "-no-color")
	if text := acctest.Words(output); err == nil && !strings.Contains(text, "is not complete") ||
		!strings.Contains(text, "max_burn_kop_h") {
		t.Errorf("%v:\n%s", err, output)
	}
	burn, rented := int64(0), 0
	acctest.List(env, "instances", func(server struct {
		Price struct {
			RunningKopH int64 `json:"running_kop_h"`
		}
	},
	) {
		burn += server.Price.RunningKopH
		rented++
	})
	if burn > limit || rented < 2 || rented == servers {
		t.Errorf("%d of %d servers cost %d, and the limit is %d", rented, servers, burn, limit)
	}
	w.Configure(limited(1_000_000))
	w.Try("untaint", "gpurent_fleet.b") //nolint:errcheck // it may not be tainted
	w.Run("apply", "-auto-approve", "-no-color")
	if err := env.Left("instances", servers); err != nil {
		t.Error(err)
	}
	w.Run("plan", "-no-color", "-detailed-exitcode")
}
