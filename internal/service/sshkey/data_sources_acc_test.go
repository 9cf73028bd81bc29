package sshkey_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listed = "data.gpurent_ssh_keys.all"

func TestAccSSHKeysDataSource(t *testing.T) {
	// The test checks the whole list.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	anna := env.Post("ssh-keys", fmt.Sprintf(`{"name":"team-anna","public_key":%q}`, exampleKey))
	build := env.Post("ssh-keys", fmt.Sprintf(`{"name":"Сборка","public_key":%q}`, otherKey))
	key := func(id, name string, fingerprint knownvalue.Check) knownvalue.Check {
		return knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": knownvalue.StringExact(id), "name": knownvalue.StringExact(name),
			"type":        knownvalue.StringExact("ssh-ed25519"),
			"fingerprint": fingerprint, "created_at": knownvalue.StringRegexp(regexp.MustCompile(`Z$`)),
		})
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_ssh_keys/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("team_key_ids",
						knownvalue.TupleExact([]knownvalue.Check{knownvalue.StringExact(anna)})),
					statecheck.ExpectKnownValue(listed, tfjsonpath.New("ssh_keys"), knownvalue.ListExact([]knownvalue.Check{
						key(anna, "team-anna", knownvalue.StringExact(fingerprint)),
						key(build, "Сборка", knownvalue.StringRegexp(regexp.MustCompile(`^SHA256:`))),
					})),
				},
			},
			{
				PreConfig: func() { env.Delete("ssh-keys/" + anna); env.Delete("ssh-keys/" + build) },
				Config:    env.Config(`data "gpurent_ssh_keys" "all" {}`),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(listed, tfjsonpath.New("ssh_keys"),
					knownvalue.ListSizeExact(0))},
			},
		},
	})
}

// A list that is read after an apply has its changes, and resources and data sources share one request.
func TestAccSSHKeysDataSource_sharesOneList(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test checks that a new key is listed immediately, and counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks("lagging-list", "small-pages", "gateway-errors"))
	const list = "data \"gpurent_ssh_keys\" \"all\" {\n  depends_on = [gpurent_ssh_key.laptop]\n}\noutput " +
		"\"fingerprints\" {\n  value = data.gpurent_ssh_keys.all.ssh_keys[*].fingerprint\n}\n"
	w := env.Workspace(env.Config(config(exampleKey), list, "data \"gpurent_ssh_keys\" \"before\" {}\n"))
	w.Run("apply", "-auto-approve")
	if got := w.Run("output", "-json",
		"fingerprints"); !regexp.MustCompile(regexp.QuoteMeta(fingerprint)).MatchString(got) {
		t.Errorf("the new key is not listed: %s", got)
	}
	env.ClearRequests()
	w.Run("plan")
	if n := len(env.Requests()); n != 1 {
		t.Errorf("%d requests for a resource and two lists: %v", n, env.Requests())
	}
}

func TestAccSSHKeysDataSource_requiresScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "instances:read", `(?s)Cannot list SSH keys.*lacks\s+the\s+scope\s+user:read`,
		`data "gpurent_ssh_keys" "all" {}`)
}
