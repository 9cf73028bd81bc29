package account_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccAccountDataSource(t *testing.T) {
	env := acctest.Start(t)
	const address = "data.gpurent_account.me"
	profile := acctest.Fetch[struct {
		ID, Email, Name string
		CreatedAt       string `json:"created_at"`
	}](env, "me")
	check := func(name string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), value)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_account/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("applied_as", knownvalue.StringExact(profile.Email)),
					check("id", knownvalue.StringExact(profile.ID)),
					check("name", knownvalue.StringExact(profile.Name)),
					check("created_at", knownvalue.StringExact(profile.CreatedAt)),
					check("two_factor", knownvalue.Bool(true)),
					check("email_verified", knownvalue.Bool(true)),
					check("telegram_linked", knownvalue.Bool(false)),
				},
			},
		},
	})
}
