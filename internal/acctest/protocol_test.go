package acctest_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// An example of the protocol harness: the life of an object, with a new process for each run.
func TestPlugin_LifeOfAnObject(t *testing.T) {
	env := acctest.Start(t)
	config := map[string]any{"name": "laptop", "public_key": rentaltest.PublicKey}
	created, diags := acctest.Configured(t, env.Arguments()).Create("gpurent_ssh_key", config)
	if len(diags) > 0 {
		t.Fatal(acctest.Texts(diags))
	}

	p := acctest.Configured(t, env.Arguments())
	refreshed, _ := p.Refresh(created)
	plan, _ := p.Plan(refreshed, config)
	if !plan.Planned.State.Equal(refreshed.State) {
		t.Errorf("the second plan changes %s to %s", refreshed.State, plan.Planned.State)
	}
	config["name"] = "desktop"
	if plan, _ = p.Plan(refreshed, config); len(plan.Replaces) != 1 || plan.Replaces[0] != "name" {
		t.Errorf("another name replaces the key because of %v", plan.Replaces)
	}
	if list, _ := p.Data("gpurent_ssh_keys", nil); !strings.Contains(list, `"`+created.Text("id")+`"`) {
		t.Errorf("the key is not in the list %s", list)
	}

	gone, diags := acctest.Configured(t, env.Arguments()).Destroy(refreshed)
	if !gone.State.IsNull() || len(diags) > 0 {
		t.Errorf("the state after the destruction is %s: %s", gone.State, acctest.Texts(diags))
	}
	if err := env.NothingLeft("ssh-keys"); err != nil {
		t.Error(err)
	}
}
