package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const address = "gpurent_instance.trainer"

// resourceBlock returns an instance, with further arguments.
func resourceBlock(arguments ...string) string {
	return fmt.Sprintf("resource \"gpurent_instance\" \"trainer\" {\n  template = \"pytorch\"\n  disk_gb  = 60\n  %s\n}\n",
		strings.Join(arguments, "\n  "))
}

// configByOffer returns an instance with the cheapest offer of a data source.
func configByOffer(arguments ...string) string {
	return "data \"gpurent_offers\" \"test\" {\n  gpu = [\"rtx_4090\"]\n  num_gpus = [1]\n}\n" +
		resourceBlock(append(arguments, "offer_id = data.gpurent_offers.test.ids[0]")...)
}

func attributeIs(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(path), value)
}

func planned(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return acctest.Planned(address, action)
}

// expectOutput checks that the output of a command has the texts.
func expectOutput(t *testing.T, output string, want ...string) {
	t.Helper()
	text := acctest.WithoutFrame(output)
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, output)
		}
	}
}
