package instance_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// An instance of the key that differs from the configuration is neither recovered nor duplicated.
func TestAccInstance_idempotencyKeyOfOtherInstance(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	config := env.Config(configByQuery(`{}`, `idempotency_key = "k"`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config},
			removeFromStateStep(env.Provider()),
			{
				Config:      strings.Replace(config, "= 60", "= 80", 1),
				ExpectError: regexp.MustCompile(`(?s)differs from the configuration.*disk_gb\s+is\s+60`),
			},
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{attributeIs("disk_gb", knownvalue.Int64Exact(60))}},
		},
		CheckDestroy: checkDestroyed(env),
	})
	if err := env.Left("instances?status=all", 1); err != nil {
		t.Error("of all that were ever rented:", err)
	}
}

// The create request is repeated until its outcome is known, however long that takes.
func TestAccInstance_unknownOutcomeRetried(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The client of this test does not retry, and the test injects faults itself.
	env := acctest.Start(t, acctest.WithoutQuirks("gateway-errors", "status-after-work"))
	addFaults(t, env,
		simulator.Fault{Method: "POST", Path: "/instances", Drop: "after", Times: 1},
		simulator.Fault{Method: "POST", Path: "/instances", Drop: "before", Times: 3},
		simulator.Fault{Method: "POST", Path: "/instances", Status: 500, Times: 3},
	)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:            configWithoutRetries(env, configByOffer()),
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("rented_offer_id", knownvalue.NotNull())},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
	if err := env.Left("instances?status=all", 1); err != nil {
		t.Error("of all that were ever rented:", err)
	}
}

// If the outcome stays unknown, the error describes how to find the instance without renting twice.
func TestAccInstance_unknownOutcomeReportsKey(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The client of this test does not retry, and the test injects faults itself.
	env := acctest.Start(t, acctest.WithoutQuirks("gateway-errors", "status-after-work"))
	addFaults(t, env,
		simulator.Fault{Method: "POST", Path: "/instances", Drop: "after", Times: 1},
		simulator.Fault{Method: "POST", Path: "/instances", Drop: "before"},
	)
	config := func(parts ...string) string {
		text := configWithoutRetries(env, parts...)
		if !strings.Contains(text, "request_timeout") { // the create request ends that long after timeouts.create
			text = strings.Replace(text, "max_retries = 0", "max_retries = 0\n  request_timeout = \"3s\"", 1)
		}
		return text
	}
	w := env.Workspace(config(configByOffer(`timeouts = { create = "300ms" }`)))
	output, err := w.Try("apply", "-auto-approve", "-no-color")
	if err == nil {
		t.Fatal("the apply succeeded")
	}
	key := regexp.MustCompile(`idempotency_key = ("tf-\w+")`).FindStringSubmatch(acctest.Words(output))
	if key == nil {
		t.Fatalf("the error does not name the key:\n%s", output)
	}
	env.ClearFaults()
	w.Configure(config(configByOffer("idempotency_key = " + key[1])))
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("plan", "-detailed-exitcode", "-no-color")
	if err := env.Left("instances?status=all", 1); err != nil {
		t.Error("of all that were ever rented:", err)
	}
}

func TestAccInstance_duplicateName(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_3090", "on_demand")
	id := env.Post(
		"instances",
		fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60,"name":"trainer"}`, offer.ID),
	)
	w := env.Workspace(
		env.Config(
			configByQuery(`{}`, `name = "trainer"`, `idempotency_key = "trainer"`),
			"output \"id\" {\n  value = gpurent_instance.trainer.id\n}\n",
		),
	)
	output := acctest.Words(w.Run("plan", "-no-color"))
	for _, want := range []string{
		"Instance " + id + " already has this name", fmt.Sprintf("import { to = gpurent_instance.NAME id = %q }", id),
		"per hour", "per month",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in the plan:\n%s", want, output)
		}
	}
	if output := w.Run("apply", "-auto-approve", "-no-color"); strings.Count(output, "already has this name") == 0 {
		t.Error("the message is missing")
	}
	// The instance to replace is no duplicate of its replacement.
	own := strings.Trim(w.Run("output", "-no-color", "-raw", "id"), "\n")
	output = w.Run("plan", "-no-color", "-replace=gpurent_instance.trainer")
	if strings.Contains(output, "Instance "+own+" already") {
		t.Errorf("the plan takes the server for a duplicate of itself:\n%s", output)
	}
}
