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

// job is an ephemeral key for a job, and echoed is one of which the state of another
// provider keeps everything: it is how tests see into it.
func job(arguments ...string) string {
	return "ephemeral \"gpurent_api_key\" \"job\" {\n  name = \"job\"\n  scopes = [\"instances:read\"]\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

func echoed(arguments ...string) string {
	return job(arguments...) + "provider \"echo\" {\n  data = ephemeral.gpurent_api_key.job\n}\nresource \"echo\" \"job\" {}\n"
}

// run runs steps with the provider and one that echoes. No key may be left.
func run(t *testing.T, env *acctest.Env, steps ...resource.TestStep) {
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
		return // some requests are repeated
	}
	if issued, revoked := env.CountRequests("POST", "/api-keys"), env.CountRequests("DELETE", "/api-keys"); issued != revoked {
		t.Errorf("%d keys were issued and %d revoked", issued, revoked)
	}
}

// at is where the echo keeps an attribute.
func at(attribute string) tfjsonpath.Path { return tfjsonpath.New("data").AtMapKey(attribute) }

func TestAccEphemeralAPIKey_isIssuedForARunAndRevoked(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums")) // the test asserts the source
	run(t, env,
		resource.TestStep{
			Config: env.Config(echoed()),
			ConfigStateChecks: append(lifetime(day),
				statecheck.ExpectKnownValue("echo.job", at("secret"), knownvalue.StringRegexp(regexp.MustCompile(`^.{4}[0-9A-Za-z]{40}$`))),
				statecheck.ExpectKnownValue("echo.job", at("id"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue("echo.job", at("prefix"), knownvalue.StringRegexp(regexp.MustCompile(`^.{8}$`))),
				statecheck.ExpectKnownValue("echo.job", at("source"), knownvalue.StringExact("api")),
				statecheck.ExpectKnownValue("echo.job", at("expires_in_days"), knownvalue.Int64Exact(1)),
			),
			Check: func(*terraform.State) error { return env.OnlyKeyLeft() },
		},
		resource.TestStep{
			Taint:             []string{"echo.job"},
			Config:            env.Config(echoed("expires_in_days = 30")),
			ConfigStateChecks: lifetime(30 * day),
		},
	)
	if env.CountRequests("POST", "/api-keys") < 2 {
		t.Error("no key was issued for each step")
	}
}

// lifetime expects a key to expire that long after it was issued.
func lifetime(want time.Duration) []statecheck.StateCheck {
	var created time.Time
	moment := func(check func(time.Time) error) knownvalue.Check {
		return knownvalue.StringFunc(func(text string) error {
			at, err := time.Parse(time.RFC3339, text)
			return errors.Join(err, check(at))
		})
	}
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue("echo.job", at("created_at"), moment(func(at time.Time) error {
			created = at
			return nil
		})),
		statecheck.ExpectKnownValue("echo.job", at("expires_at"), moment(func(at time.Time) error {
			if got := at.Sub(created); got != want {
				return fmt.Errorf("it lives %s, want %s", got, want)
			}
			return nil
		})),
	}
}

// A lost answer takes the secret with it: that key is revoked, and another issued. The
// key of a sibling is not taken for it, however alike they are.
func TestAccEphemeralAPIKey_aLostAnswerLeavesNoKeyBehind(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts that one answer is lost, and that each key is revoked by one request.
	env := acctest.Start(t, acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	env.LoseAnswer("/api-keys")
	run(t, env, resource.TestStep{Config: env.Config(strings.Replace(echoed("count = 3"), ".job\n", ".job[*].secret\n", 1))})
	for _, r := range env.Requests() {
		if r.Method == "DELETE" && r.Status != 204 {
			t.Errorf("%s %s was answered with %d: the key was revoked before its time", r.Method, r.Path, r.Status)
		}
	}
}

// What is known only at apply is judged then, and before any key is issued.
func TestAccEphemeralAPIKey_waitsForWhatIsNotKnownAtPlan(t *testing.T) {
	env := acctest.Start(t)
	named := func(name string) string {
		return "resource \"terraform_data\" \"name\" {\n  input = \"" + name + "\"\n}\n" +
			strings.Replace(echoed(), `"job"`+"\n", "terraform_data.name.output\n", 1)
	}
	run(t, env,
		resource.TestStep{Config: env.Config(named("")), ExpectError: regexp.MustCompile(`between 1 and 60`)},
		resource.TestStep{
			PreConfig: func() {
				if n := env.CountRequests("POST", "/api-keys"); n != 0 {
					t.Errorf("%d keys were issued under a bad name", n)
				}
			},
			Config: env.Config(named("late")), ConfigStateChecks: lifetime(day),
		},
	)
}

// A key cannot give what it does not have. The service says the same as when the scope
// for the request itself is missing, so the error names both.
func TestAccEphemeralAPIKey_missingPermissionsAreNamed(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	key := func(scopes string) string {
		return env.ProviderWithKey(env.Secret(`{"name": "narrow", "scopes": [` + scopes + `]}`))
	}
	const cannotGive = `(?s)user:write, which.*instances:read.*cannot\s+give\s+scopes\s+that\s+it\s+lacks`
	var steps []resource.TestStep
	for _, test := range []struct{ provider, config, complaint string }{
		{key(`"user:read", "user:write"`), echoed(), cannotGive},
		{key(`"user:read", "user:write"`), config(), cannotGive},
		{key(`"user:read", "instances:read"`), echoed(), cannotGive},
		{key(`"user:write", "instances:read"`), echoed(), `lacks\s+the\s+scope\s+user:read`},
		{env.ProviderWithKey("gpr_" + strings.Repeat("x", 40)), echoed(), `wrong,\s+expired\s+or\s+revoked`},
		{env.ProviderWithoutKey(), echoed(), `Missing API key`},
	} {
		steps = append(steps, resource.TestStep{Config: test.provider + test.config, ExpectError: regexp.MustCompile(test.complaint)})
	}
	factories := acctest.Factories()
	factories["echo"] = echoprovider.NewProviderServer()
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: factories, Steps: steps})
	if err := env.Left("api-keys", 5); err != nil {
		t.Error(err)
	}
}

func TestAccEphemeralAPIKey_badInputIsRefusedBeforeAnyRequest(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{strings.Replace(job(), `"job"`+"\n", `""`+"\n", 1), `between 1 and 60`},
		{strings.Replace(job(), `["instances:read"]`, `[]`, 1), `at least 1`},
		{strings.Replace(job(), `"instances:read"`, `"instances:admin"`, 1), `value must be one of`},
		{job(`expires_in_days = 0`), `between 1 and 3650`},
		{job(`expires_in_days = 3651`), `between 1 and 3650`},
	})
}
