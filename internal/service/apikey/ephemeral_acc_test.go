package apikey_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const ephemeralExample = "ephemeral-resources/gpurent_api_key/ephemeral-resource.tf"

// job returns a configuration with an ephemeral key.
func job(arguments ...string) string {
	return "ephemeral \"gpurent_api_key\" \"job\" {\n  name = \"job\"\n  scopes = [\"instances:read\"]\n  " +
		strings.Join(arguments, "\n  ") + "\n}\n"
}

// testWithEcho runs steps with the provider and the echo provider, of which the state of echo.job contains all
// attributes of the key.
func testWithEcho(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	for i := range steps {
		steps[i].Config += "provider \"echo\" {\n  data = ephemeral.gpurent_api_key.job\n}\nresource \"echo\" \"job\" {}\n"
	}
	factories := acctest.Factories()
	factories["echo"] = echoprovider.NewProviderServer()
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		Steps:                    steps,
	})
}

// Each run has its own key, which lives for a day by default and is revoked at the end of the run.
func TestAccEphemeralAPIKey_createdAndRevoked(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums")) // the test checks the source
	attribute := func(name string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("echo.job", tfjsonpath.New("data").AtMapKey(name), check)
	}
	var created string
	livesFor := func(want time.Duration) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			attribute("created_at", knownvalue.StringFunc(func(text string) error {
				created = text
				return nil
			})),
			attribute("expires_at", knownvalue.StringFunc(func(expires string) error {
				from, err := time.Parse(time.RFC3339, created)
				to, errTo := time.Parse(time.RFC3339, expires)
				if err != nil || errTo != nil || to.Sub(from) != want {
					return fmt.Errorf("the key lives from %s to %s, want %s", created, expires, want)
				}
				return nil
			})),
		}
	}
	testWithEcho(t,
		resource.TestStep{
			Config: env.Config(job()),
			ConfigStateChecks: append(livesFor(day),
				attribute("secret", knownvalue.StringRegexp(regexp.MustCompile(`^.{4}[0-9A-Za-z]{40}$`))),
				attribute("id", knownvalue.NotNull()),
				attribute("prefix", knownvalue.StringRegexp(regexp.MustCompile(`^.{8}$`))),
				attribute("source", knownvalue.StringExact("api")),
				attribute("expires_in_days", knownvalue.Int64Exact(1)),
			),
			Check: func(*terraform.State) error { return env.OnlyKeyLeft() },
		},
		resource.TestStep{
			Taint: []string{"echo.job"}, Config: env.Config(job("expires_in_days = 30")),
			ConfigStateChecks: livesFor(30 * day),
		},
	)
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
	if n := env.CountRequests("POST", "/api-keys"); n < 2 {
		t.Errorf("%d keys, want a new one in each step", n)
	}
}

// A key cannot give scopes that it lacks. The API returns the same error if the key lacks the scope of the request, so
// the error of the provider contains both.
func TestAccEphemeralAPIKey_missingPermissions(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	fails := func(scopes, message string) resource.TestStep {
		key := env.Secret(`{"name": "narrow", "scopes": [` + scopes + `]}`)
		return resource.TestStep{Config: env.ProviderWithKey(key) + job(), ExpectError: regexp.MustCompile(message)}
	}
	const missingScope = `(?s)lacks the scope user:write, or one of the scopes of\s+the new key \(instances:read\)`
	testWithEcho(t,
		fails(`"user:read", "user:write"`, missingScope),
		fails(`"user:read", "instances:read"`, missingScope),
	)
	if err := env.Left("api-keys", 3); err != nil {
		t.Error(err)
	}
}
