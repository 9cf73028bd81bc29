package apikey_test

import (
	"errors"
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
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const ephemeralExample = "ephemeral-resources/gpurent_api_key/ephemeral-resource.tf"

// job returns a configuration with an ephemeral key.
func job(arguments ...string) string {
	return "ephemeral \"gpurent_api_key\" \"job\" {\n  name = \"job\"\n  scopes = [\"instances:read\"]\n  " +
		strings.Join(arguments, "\n  ") + "\n}\n"
}

// jobWithEcho returns a configuration with an ephemeral key and a resource of the echo provider, whose state contains
// all attributes of the key.
func jobWithEcho(arguments ...string) string {
	return job(arguments...) + "provider \"echo\" {\n  data = ephemeral.gpurent_api_key.job\n}\nresource \"echo\" " +
		"\"job\" {}\n"
}

// testEphemeral runs steps with the provider and the echo provider. At the end, every key must be revoked.
func testEphemeral(t *testing.T, env *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	factories := acctest.Factories()
	factories["echo"] = echoprovider.NewProviderServer()
	resource.ParallelTest(t, resource.TestCase{
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_10_0)},
		ProtoV6ProviderFactories: factories,
		Steps:                    steps,
		CheckDestroy:             func(*terraform.State) error { return env.OnlyKeyLeft() },
	})
	if len(env.Quirks()) > 0 {
		return // quirks cause retries
	}
	if issued, revoked := env.CountRequests("POST", "/api-keys"), env.CountRequests("DELETE",
		"/api-keys"); issued != revoked {
		t.Errorf("%d keys created and %d revoked", issued, revoked)
	}
}

// attribute returns the path of an attribute of the key in the state of the echo provider.
func attribute(attribute string) tfjsonpath.Path { return tfjsonpath.New("data").AtMapKey(attribute) }

func TestAccEphemeralAPIKey_createdAndRevoked(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums")) // the test checks the source
	testEphemeral(t, env,
		resource.TestStep{
			Config: env.Config(jobWithEcho()),
			ConfigStateChecks: append(expiresAfter(day),
				statecheck.ExpectKnownValue("echo.job", attribute("secret"),
					knownvalue.StringRegexp(regexp.MustCompile(`^.{4}[0-9A-Za-z]{40}$`))),
				statecheck.ExpectKnownValue("echo.job", attribute("id"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue("echo.job", attribute("prefix"), knownvalue.StringRegexp(regexp.MustCompile(`^.{8}$`))),
				statecheck.ExpectKnownValue("echo.job", attribute("source"), knownvalue.StringExact("api")),
				statecheck.ExpectKnownValue("echo.job", attribute("expires_in_days"), knownvalue.Int64Exact(1)),
			),
			Check: func(*terraform.State) error { return env.OnlyKeyLeft() },
		},
		resource.TestStep{
			Taint:             []string{"echo.job"},
			Config:            env.Config(jobWithEcho("expires_in_days = 30")),
			ConfigStateChecks: expiresAfter(30 * day),
		},
	)
	if env.CountRequests("POST", "/api-keys") < 2 {
		t.Error("want a new key in each step")
	}
}

// expiresAfter checks the time between the creation and the expiry of a key.
func expiresAfter(want time.Duration) []statecheck.StateCheck {
	var created time.Time
	moment := func(check func(time.Time) error) knownvalue.Check {
		return knownvalue.StringFunc(func(text string) error {
			attribute, err := time.Parse(time.RFC3339, text)
			return errors.Join(err, check(attribute))
		})
	}
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue("echo.job", attribute("created_at"), moment(func(attribute time.Time) error {
			created = attribute
			return nil
		})),
		statecheck.ExpectKnownValue("echo.job", attribute("expires_at"), moment(func(attribute time.Time) error {
			if got := attribute.Sub(created); got != want {
				return fmt.Errorf("the lifetime is %s, want %s", got, want)
			}
			return nil
		})),
	}
}

// A key cannot give scopes that it lacks. The API returns the same error if the key lacks the scope of the request, so
// the error of the provider contains both.
func TestAccEphemeralAPIKey_missingPermissions(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	key := func(scopes string) string {
		return env.ProviderWithKey(env.Secret(`{"name": "narrow", "scopes": [` + scopes + `]}`))
	}
	const missingScope = `(?s)user:write, which.*instances:read.*cannot\s+give\s+scopes\s+that\s+it\s+lacks`
	fails := func(scopes, message string) resource.TestStep {
		return resource.TestStep{Config: key(scopes) + jobWithEcho(), ExpectError: regexp.MustCompile(message)}
	}
	factories := acctest.Factories()
	factories["echo"] = echoprovider.NewProviderServer()
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		Steps: []resource.TestStep{
			fails(`"user:read", "user:write"`, missingScope),
			fails(`"user:read", "instances:read"`, missingScope),
			fails(`"user:write", "instances:read"`, `lacks\s+the\s+scope\s+user:read`),
		},
	})
	if err := env.Left("api-keys", 4); err != nil {
		t.Error(err)
	}
}
