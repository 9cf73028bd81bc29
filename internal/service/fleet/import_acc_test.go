package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// custom returns a fleet with the custom template and an image.
func custom(image string, arguments ...string) string {
	config := plain(2, 20, append(arguments, fmt.Sprintf("image = %q", image))...)
	return strings.Replace(config, `"pytorch"`, `"custom"`, 1)
}

const importBlock = "import {\n  to = gpurent_fleet.train\n  id = \"train\"\n}\n"

// rent rents a member outside Terraform for each order, and returns their ids by name.
func rent(env *acctest.Env, orders ...string) map[string]string {
	for slot, order := range orders {
		env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"name":"train-%d",%s}`,
			env.Offers("gpu=rtx_4090&num_gpus=1")[0].ID, slot, order))
	}
	env.Advance(time.Minute)
	return active(env)
}

// If the API omits an argument, the plan of an import adopts the configured value in place. Later changes of it replace
// the members.
func TestAccFleet_importsOmittedArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	const rolling = `update = "rolling"`
	for name, test := range map[string]struct{ omitted, order, config, changed, rolling string }{
		"disk_gb": {
			"disk_gb", `"template":"pytorch","disk_gb":20`, plain(2, 20), plain(2, 30), plain(2, 30, rolling),
		},
		"image": {
			"image", `"template":"custom","image":"nginx:1.27","disk_gb":20`, custom("nginx:1.27"), custom("nginx:1.28"),
			custom("nginx:1.28", rolling),
		},
		"template": {
			"template", `"template":"pytorch","disk_gb":20`, plain(2, 20), custom("nginx:1.27"),
			custom("nginx:1.27", rolling),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The test omits the fields itself.
			env := acctest.Start(t, acctest.WithoutQuirks("all"),
				editInstances(func(inst map[string]any) { delete(inst, test.omitted) }))
			env.AddSSHKey()
			before := rent(env, test.order, test.order)
			w := env.Workspace(env.Provider() + test.config + importBlock)
			contains(t, w.Run("apply", "-auto-approve", "-no-color"), "1 imported, 0 added, 1 changed, 0 destroyed",
				"!changes existing members")
			if now := members(w); now["0"] != before["train-0"] || now["1"] != before["train-1"] {
				t.Errorf("%v, before %v", now, before)
			}
			contains(t, w.Run("plan", "-no-color"), "No changes.")
			w.Configure(env.Provider() + test.changed)
			contains(t, w.Run("plan", "-no-color"), "# forces replacement", "1 to add, 0 to change, 1 to destroy")
			w.Configure(env.Provider() + test.rolling)
			contains(t, w.Run("apply", "-auto-approve", "-no-color"),
				"): replaced, because it was created with other arguments", "0 added, 1 changed, 0 destroyed")
			if now := members(w); now["0"] == before["train-0"] || now["1"] == before["train-1"] {
				t.Errorf("the members stay: %v", now)
			}
			contains(t, w.Run("plan", "-no-color"), "No changes.")
			w.Run("destroy", "-auto-approve")
		})
	}
}

// An import reads an instance whose name a list omits, because it may be a member.
func TestAccFleet_importsOmittedNames(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	omitted := 0
	env := acctest.Start(t, acctest.WithoutQuirks("all"), editInstances(func(inst map[string]any) {
		if omitted++; omitted == 1 && inst["name"] != nil {
			delete(inst, "name")
		}
	}))
	env.AddSSHKey()
	const order = `"template":"pytorch","disk_gb":20`
	rent(env, order, order)
	w := env.Workspace(env.Provider() + plain(2, 20) + importBlock)
	omitted = 0
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "1 imported, 0 added")
	if now := members(w); len(now) != 2 {
		t.Errorf("imported %v", now)
	}
}

// An image that is added to a fleet that was created without one replaces it.
func TestAccFleet_addsImage(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// Quirks can change the image and add messages.
	env := acctest.Start(t, acctest.WithoutQuirks("all"))
	env.AddSSHKey()
	w := env.Workspace(env.Provider() + strings.Replace(plain(2, 20), `"pytorch"`, `"custom"`, 1))
	w.Run("apply", "-auto-approve")
	contains(t, w.Run("plan", "-no-color"), "No changes.")
	w.Configure(env.Provider() + custom("nginx:1.27"))
	contains(t, w.Run("plan", "-no-color"), "# forces replacement", "1 to add, 0 to change, 1 to destroy")
	w.Configure(env.Provider() + custom("nginx:1.27", `update = "rolling"`))
	contains(t, w.Run("plan", "-no-color"), "slots 0 (", "replaced, because", "0 to add, 1 to change, 0 to destroy")
	w.Run("destroy", "-auto-approve")
}

// The API returns the default image of members that were rented without one. An import without an image keeps them.
func TestAccFleet_importsDefaultImage(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The test sets the image itself.
	env := acctest.Start(t, acctest.WithoutQuirks("all"), editInstances(func(inst map[string]any) {
		inst["image"] = "ubuntu:24.04"
	}))
	env.AddSSHKey()
	before := rent(env, `"template":"custom","disk_gb":20`)
	for _, update := range []string{`update = "replace"`, `update = "rolling"`} {
		config := strings.Replace(plain(1, 20, update), `"pytorch"`, `"custom"`, 1)
		w := env.Workspace(env.Provider() + config + importBlock)
		contains(t, w.Run("apply", "-auto-approve", "-no-color"), "1 imported, 0 added", "0 destroyed", "!is replaced")
		if now := members(w); now["0"] != before["train-0"] {
			t.Errorf("%s: %v, before %v", update, now, before)
		}
		contains(t, w.Run("plan", "-no-color"), "No changes.")
	}
}
