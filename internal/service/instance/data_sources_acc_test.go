package instance_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const instancesAddress = "data.gpurent_instances.all"

// namesByID checks the names of a list, which is sorted by the ids. An empty name means none.
func namesByID(want map[string]string) statecheck.StateCheck {
	checks := make([]knownvalue.Check, len(want))
	for i, id := range slices.Sorted(maps.Keys(want)) {
		name := want[id]
		checks[i] = knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": knownvalue.Null()})
		if name != "" {
			checks[i] = knownvalue.ObjectPartial(
				map[string]knownvalue.Check{"name": knownvalue.StringExact(name), "cost_so_far_kop": knownvalue.NotNull()},
			)
		}
	}
	return statecheck.ExpectKnownValue(instancesAddress, tfjsonpath.New("instances"), knownvalue.ListExact(checks))
}

func TestAccInstancesDataSource_filters(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the whole list, and sums up a field that may be absent.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"), stopClock)
	all := []string{"research-1", "", "Research-2", "research-3", "Обучение-1"}
	ids := createInstances(env, all...)
	names := func(indexes ...int) statecheck.StateCheck {
		want := map[string]string{}
		for _, i := range indexes {
			want[ids[i]] = all[i]
		}
		return namesByID(want)
	}
	list := func(arguments string) string {
		return env.Config("data \"gpurent_instances\" \"all\" {\n  " + arguments + "\n}\n")
	}
	text, first := knownvalue.StringExact, slices.Index(slices.Sorted(slices.Values(ids)), ids[0])
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				PreConfig: func() {
					stopped := simulator.InstancePatch{Status: new("stopped"), DesiredState: new("stopped"), StopReason: new("user")}
					if err := env.SetInstance(ids[3], stopped); err != nil {
						t.Error(err)
					}
				},
				Config: env.Example("data-sources/gpurent_instances/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("running", knownvalue.TupleExact([]knownvalue.Check{text("research-1")})),
					statecheck.ExpectKnownOutputValue("rubles_so_far", knownvalue.NotNull()),
				},
			},
			{Config: list(""), ConfigStateChecks: []statecheck.StateCheck{names(0, 1, 2, 3, 4)}},
			{Config: list(`name_prefix = "research-"`), ConfigStateChecks: []statecheck.StateCheck{names(0, 3)}},
			{Config: list(`name_prefix = "Обуч"`), ConfigStateChecks: []statecheck.StateCheck{names(4)}},
			{Config: list(`name_prefix = "nobody"`), ConfigStateChecks: []statecheck.StateCheck{names()}},
			{
				PreConfig:         func() { env.Delete("instances/" + ids[0]); env.Advance(time.Minute) },
				Config:            list(`status = "active"`),
				ConfigStateChecks: []statecheck.StateCheck{names(1, 2, 3, 4)},
			},
			{
				Config: list(`status = "all"`),
				ConfigStateChecks: []statecheck.StateCheck{
					names(0, 1, 2, 3, 4),
					statecheck.ExpectKnownValue(
						instancesAddress,
						tfjsonpath.New("instances").AtSliceIndex(first).AtMapKey("status"),
						text("destroyed"),
					),
				},
			},
			{
				Config:            list("status = \"all\"\n  name_prefix = \"research\""),
				ConfigStateChecks: []statecheck.StateCheck{names(0, 3)},
			},
		},
	})
}

// Two pages are one list, and names are searched in all of it.
func TestAccInstancesDataSource_pagination(t *testing.T) {
	acctest.FirstCLIOnly(t)
	const instances = 203
	// The test counts the whole list and searches for a name, which may be null.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"),
		func(c *simulator.Config) { c.MarketScale = 4 })
	setAccount(t, env, simulator.AccountPatch{MaxInstances: new(int64(instances)), BalanceKop: new(int64(1e12))})
	free := offerIDs(env)
	for i := range instances {
		env.Post("instances", fmt.Sprintf(`{"name":"node-%03d","offer_id":%q,"template":"ubuntu","disk_gb":10}`, i, free[i]))
	}
	env.ClearRequests()
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(dataSourceByName("node-000"), `data "gpurent_instances" "all" {}`),
			ConfigStateChecks: []statecheck.StateCheck{
				dataSourceIs("status", knownvalue.NotNull()),
				statecheck.ExpectKnownValue(instancesAddress, tfjsonpath.New("instances"), knownvalue.ListSizeExact(instances)),
			},
		}},
	})
}

// offerIDs returns the ids of all offers.
func offerIDs(env *acctest.Env) (ids []string) {
	acctest.List(env, "offers?limit=200", func(o acctest.Offer) { ids = append(ids, o.ID) })
	return ids
}
