package instance_test

import (
	"errors"
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
	setAccount(t, env, simulator.AccountPatch{BalanceKop: new(int64(1e9)), MaxInstances: new(int64(100))})
	key := env.Post(
		"ssh-keys",
		`{"public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"}`,
	)
	offers := env.Offers("gpu=rtx_3090&num_gpus=1")
	byQuery := `offer_query = { order = "-price" }`
	byOffer := fmt.Sprintf("offer_id = %q", offers[0].ID)
	tests := map[string]struct {
		arguments     string // %s: the value that is unknown at plan
		before, after string
		status        string // that the server is put in before
	}{
		"gpu":      {`offer_query = { gpu = [%s], num_gpus = [1] }`, `"rtx_4090"`, `"rtx_3090"`, ""},
		"gpu_same": {`offer_query = { gpu = [%s], num_gpus = [1] }`, `"rtx_4090"`, `"rtx_4090"`, ""},
		"order":    {`offer_query = { num_gpus = [1], order = %s }`, `"price"`, `"reliability"`, ""},
		"offer_id": {
			"offer_id = %[1]s == \"\" ? null : %[1]s\n  offer_query = %[1]s == \"\" ? { gpu = [\"rtx_3090\"] } : null",
			fmt.Sprintf("%q", offers[1].ID),
			`""`,
			"",
		},
		"replace_on":    {byQuery + "\n  ssh_key_ids = [local.key]\n  replace_on = [%s]", `"offer_id"`, `"ssh_key_ids"`, ""},
		"ssh_key_ids":   {byQuery + "\n  ssh_key_ids = %s ? [] : null", "true", "false", ""},
		"desired_state": {byQuery + "\n  desired_state = %s", `"running"`, `"stopped"`, ""},
		"failed":        {byQuery + "\n  desired_state = %s", `"running"`, `"running"`, "failed"},
		"outbid":        {byQuery + "\n  type = \"interruptible\"\n  on_outbid = %s", `"restart"`, `"replace"`, "outbid"},
		"kept":          {byQuery + "\n  type = \"interruptible\"\n  on_outbid = %s", `"restart"`, `"keep"`, "outbid"},
		"name":          {byQuery + "\n  name = %s", `"a"`, `"b"`, ""},
		"max_price":     {byOffer + "\n  max_price_kop_h = %s", "900000", "900001", ""},
	}
	config := func(after bool) string {
		used := ""
		if after {
			used = key
		}
		text := fmt.Sprintf("locals {\n  key = %q\n}\n", used)
		text = strings.Replace(text, `key = ""`, "key = null", 1)
		for name, test := range tests {
			value := test.before
			if after {
				value = test.after
			}
			arguments := strings.ReplaceAll(test.arguments, "%[1]s", "%s")
			arguments = strings.ReplaceAll(arguments, "%s", "terraform_data."+name+".output")
			if !after {
				arguments = strings.Replace(arguments, "[local.key]", "[]", 1)
			}
			text += fmt.Sprintf(
				"resource \"terraform_data\" %q {\n  input = %s\n  triggers_replace = %t\n}\n"+
					"resource \"gpurent_instance\" %[1]q {\n  template = \"pytorch\"\n  disk_gb = 60\n  %[4]s\n}\n",
				name,
				value,
				after,
				arguments,
			)
			text += fmt.Sprintf("output %q {\n  value = gpurent_instance.%[1]s.id\n}\n", name)
		}
		return env.Config(text)
	}
	w := env.Workspace(config(false))
	w.Run("apply", "-auto-approve", "-no-color")
	for name, test := range tests {
		if test.status != "" {
			id := strings.TrimSpace(w.Run("output", "-no-color", "-raw", name))
			if err := env.SetInstance(id, simulator.InstancePatch{Status: &test.status}); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Configure(config(true))
	if output, err := w.Try("apply", "-auto-approve", "-no-color"); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	w.Run("plan", "-detailed-exitcode", "-no-color")
	w.Run("destroy", "-auto-approve", "-no-color")
	if err := errors.Join(env.NothingLeft("instances")); err != nil {
		t.Error(err)
	}
}
