package instance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A server that was rented by hand gets a configuration that is valid, plans nothing,
// and would get the same GPUs again.
func TestAccInstance_configurationIsGenerated(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60,"name":"by hand"}`, env.CheapestOffer("rtx_4090", "on_demand").ID))
	env.Advance(time.Minute)
	generated := acctest.Words(env.Generated("resources/gpurent_instance/import-by-string-id.tf", id))
	for _, want := range []string{`name = "by hand"`, `disk_gb = 60`, `template = "pytorch"`, `gpu = ["rtx_4090"]`, `num_gpus = [1]`} {
		if !strings.Contains(generated, want) {
			t.Errorf("%s is not in:\n%s", want, generated)
		}
	}
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 1 {
		t.Errorf("%d requests that change something, want only the test's own", n)
	}
}

// One with a number of GPUs that no filter names, stopped, and interruptible.
func TestAccInstance_configurationOfAnOddServerIsGenerated(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"custom","image":"registry.example/own:1","disk_gb":60,"type":"interruptible","ssh_key_ids":[]}`,
		env.CheapestOffer("rtx_4090", "interruptible").ID))
	env.Advance(time.Minute)
	env.Post("instances/"+id+"/stop", "")
	env.Advance(time.Minute)
	generated := acctest.Words(env.Generated("resources/gpurent_instance/import-by-string-id.tf", id))
	for _, want := range []string{`type = "interruptible"`, `image = "registry.example/own:1"`, `desired_state = "stopped"`} {
		if !strings.Contains(generated, want) {
			t.Errorf("%s is not in:\n%s", want, generated)
		}
	}
}
