package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// billed is a server of the account.
type billed struct {
	Status string
	Price  struct {
		RunningKopH int64 `json:"running_kop_h"`
	}
}

// An apply rents until max_burn_kop_h is reached, whatever the order and the number of resources is, and never more.
// The next apply, with a limit that suffices, rents the rest.
func TestAccSpending_limitOfAnApply(t *testing.T) {
	const (
		instances = "resource \"gpurent_instance\" \"a\" {\n  count = 10\n  template = \"pytorch\"\n  disk_gb = 60\n" +
			"  name = \"a-${count.index}\"\n  idempotency_key = \"a-${count.index}\"\n" +
			"  offer_query = {}\n}\n"
		fleet = "resource \"gpurent_fleet\" %q {\n  name = %q\n  size = %d\n  template = \"pytorch\"\n  disk_gb = 60\n" +
			"  min_ready = 1\n  offer_queries = [{}]\n}\n"
	)
	for name, test := range map[string]struct {
		config  string
		servers int64
	}{
		"ten instances": {instances, 10},
		"two fleets":    {fmt.Sprintf(fleet+fleet, "a", "a", 4, "b", "b", 4), 8},
		"instances beside a fleet": {
			strings.Replace(instances, "= 10", "= 4", 1) + fmt.Sprintf(fleet, "b", "b", 4), 8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The limit cannot be compared without a balance, and counts the servers of the neighbours quirk.
			env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours"))
			env.AddSSHKey()
			limited := func(limit int64) string {
				return env.Provider(fmt.Sprintf("spending = { max_burn_kop_h = %d }", limit)) + test.config
			}
			var limit int64 // half of what all of them cost at least
			for _, offer := range env.Offers("")[:test.servers] {
				limit += offer.Price.OnDemandKopH / 2
			}
			w := env.Workspace(limited(limit))
			w.Run("plan", "-no-color") // each resource alone
			output, err := w.Try("apply", "-auto-approve", "-no-color")
			if text := acctest.Words(output); err == nil && !strings.Contains(text, "is not complete") ||
				!strings.Contains(text, "max_burn_kop_h") {
				t.Errorf("%v:\n%s", err, output)
			}
			burn, rented := int64(0), int64(0)
			acctest.List(env, "instances", func(server billed) {
				burn += server.Price.RunningKopH
				rented++
			})
			if burn > limit || rented < 2 || rented == test.servers {
				t.Errorf("%d of %d servers cost %d, and the limit is %d", rented, test.servers, burn, limit)
			}
			w.Configure(limited(1_000_000))
			for _, address := range strings.Fields(w.Run("state", "list")) {
				w.Try("untaint", address) //nolint:errcheck // it may not be tainted
			}
			w.Run("apply", "-auto-approve", "-no-color")
			if err := env.Left("instances", int(test.servers)); err != nil {
				t.Error(err)
			}
			w.Run("plan", "-no-color", "-detailed-exitcode")
			w.Run("destroy", "-auto-approve", "-no-color")
		})
	}
}
