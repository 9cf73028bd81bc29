package instance_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestAccInstance_drift(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	var id string
	set := func(patch simulator.InstancePatch) func() {
		return func() {
			if err := env.SetInstance(id, patch); err != nil {
				t.Error(err)
			}
		}
	}
	ptr := func(value string) *string { return &value }
	running := []statecheck.StateCheck{
		attributeIs("status", knownvalue.StringExact("running")),
		attributeIs("desired_state", knownvalue.StringExact("running")),
	}
	update := acctest.Planned(address, plancheck.ResourceActionUpdate)
	config := env.Config(configByOffer())
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, Check: acctest.RememberID(address, &id)},
			{
				// Stopped in the console.
				PreConfig: set(
					simulator.InstancePatch{Status: ptr("stopped"), DesiredState: ptr("stopped"), StopReason: ptr("user")},
				),
				Config:            config,
				ConfigPlanChecks:  update,
				ConfigStateChecks: running,
			},
			{
				// Stopped by the API because the balance was used up.
				PreConfig: set(
					simulator.InstancePatch{Status: ptr("stopped"), DesiredState: ptr("stopped"), StopReason: ptr("low_balance")},
				),
				Config:            config,
				ConfigPlanChecks:  update,
				ConfigStateChecks: running,
			},
			{
				// The boot failed, so only a replacement reaches the desired state.
				PreConfig:         set(simulator.InstancePatch{Status: ptr("failed")}),
				Config:            config,
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
				ConfigStateChecks: running,
				Check:             acctest.RememberID(address, &id),
			},
			{
				// Destroyed in the console.
				PreConfig:        set(simulator.InstancePatch{Status: ptr("destroyed"), DesiredState: ptr("destroyed")}),
				Config:           config,
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionCreate),
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_outbid(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test outbids the instance itself.
	env := acctest.Start(t, acctest.WithoutQuirks("outbid-soon-after-start"))
	offer := env.CheapestOffer("rtx_4090", "interruptible")
	bid := *offer.Price.InterruptibleKopH
	config := func(arguments ...string) string {
		return env.Config(resourceBlock(fmt.Sprintf("%q", offer.ID), append(arguments, `type = "interruptible"`)...))
	}
	outbid := func(price int64) func() {
		return func() {
			if err := env.SetOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: &price}); err != nil {
				t.Error(err)
			}
		}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config()},
			{
				PreConfig: outbid(bid + 100),
				Config:    config(`on_outbid = "keep"`),
				ConfigStateChecks: []statecheck.StateCheck{
					attributeIs("status", knownvalue.StringExact("outbid")),
				},
			},
			{
				Config:      config(fmt.Sprintf("max_price_kop_h = %d", bid)),
				ExpectError: regexp.MustCompile(`costs\s+more\s+than\s+a\s+limit`),
			},
			{
				Config:           config(fmt.Sprintf("max_price_kop_h = %d", bid+100)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					attributeIs("status", knownvalue.StringExact("running")),
					attributeIs("price", knownvalue.ObjectPartial(map[string]knownvalue.Check{"stopped_kop_h": knownvalue.NotNull()})),
				},
			},
			{
				PreConfig:        outbid(bid + 200),
				Config:           config(`on_outbid = "replace"`),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
			},
		},
	})
}

// A lowered cap also applies to the next start.
func TestAccInstance_startAboveCap(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(configByOffer(`desired_state = "stopped"`))},
			{
				Config:      env.Config(configByOffer(`max_price_kop_h = 100`)),
				ExpectError: regexp.MustCompile(`(?s)costs\s+more\s+than\s+a\s+limit.*per\s+month`),
			},
			{
				Config:            env.Config(configByOffer(`max_price_kop_h = 900000`)),
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("status", knownvalue.StringExact("running"))},
			},
		},
	})
}
