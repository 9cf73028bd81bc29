package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Arguments that are unknown at plan never contradict the plan, whether or not they change in the apply.
func TestAccInstance_unknownArguments(t *testing.T) {
	t.Parallel()
	// The test sets the status outbid itself: with on_outbid = "replace", a replacement that is outbid, too, is an error.
	env := acctest.Start(t, acctest.WithoutQuirks("outbid-soon-after-start"))
	env.AddSSHKey()
	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1e9))}))
	const byQuery = "offer_query = { order = \"-price\" }\n  "
	const bid = byQuery + "type = \"interruptible\"\n  "
	tests := map[string]struct {
		arguments     string // VALUE is unknown at plan
		before, after string
		status        string // that the server is put in before
	}{
		"gpu":           {`offer_query = { gpu = [VALUE], num_gpus = [1] }`, `"rtx_4090"`, `"rtx_3090"`, ""},
		"gpu_same":      {`offer_query = { gpu = [VALUE], num_gpus = [1] }`, `"rtx_4090"`, `"rtx_4090"`, ""},
		"order":         {`offer_query = { num_gpus = [1], order = VALUE }`, `"price"`, `"reliability"`, ""},
		"ssh_key_ids":   {byQuery + "ssh_key_ids = VALUE ? [] : null", "true", "false", ""},
		"desired_state": {byQuery + "desired_state = VALUE", `"running"`, `"stopped"`, ""},
		"failed":        {byQuery + "desired_state = VALUE", `"running"`, `"running"`, "failed"},
		"outbid":        {bid + "on_outbid = VALUE", `"restart"`, `"replace"`, "outbid"},
		"kept":          {bid + "on_outbid = VALUE", `"restart"`, `"keep"`, "outbid"},
		"name":          {byQuery + "name = VALUE", `"a"`, `"b"`, ""},
	}
	config := func(after bool) (text string) {
		for name, test := range tests {
			value := test.before
			if after {
				value = test.after
			}
			arguments := strings.ReplaceAll(test.arguments, "VALUE", "terraform_data."+name+".output")
			text += fmt.Sprintf("resource \"terraform_data\" %q {\n  input = %s\n  triggers_replace = %t\n}\n",
				name, value, after)
			text += strings.Replace(resourceBlock(arguments), "trainer", name, 1)
			text += fmt.Sprintf("output %q {\n  value = gpurent_instance.%[1]s.id\n}\n", name)
		}
		return env.Config(text)
	}
	w := env.Workspace(config(false))
	w.Run("apply", "-auto-approve", "-no-color")
	for name, test := range tests {
		if test.status != "" {
			id := strings.TrimSpace(w.Run("output", "-no-color", "-raw", name))
			must(t, env.SetInstance(id, simulator.InstancePatch{Status: &test.status}))
		}
	}
	w.Configure(config(true))
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("plan", "-detailed-exitcode", "-no-color")
	w.Run("destroy", "-auto-approve", "-no-color")
	must(t, env.NothingLeft("instances"))
}
