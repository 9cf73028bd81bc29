package apikey_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// dataSourceConfig returns a data block with arguments.
func dataSourceConfig(arguments ...string) string {
	return "data \"gpurent_api_key\" \"one\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

// prefixOf returns the prefix of a key.
func prefixOf(env *acctest.Env, id string) (prefix string) {
	acctest.List(env, "api-keys?limit=200", func(k struct{ ID, Prefix string }) {
		if k.ID == id {
			prefix = k.Prefix
		}
	})
	return prefix
}

func TestAccAPIKeyDataSource_byNameAndByPrefix(t *testing.T) {
	// The test checks a documented source.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums"))
	id := env.Post("api-keys", `{"name":"ci","scopes":["billing:read"],"expires_in_days":30}`)
	forever := env.Post("api-keys", `{"name":"Наблюдатель","scopes":["user:read","billing:read"]}`)
	prefix := prefixOf(env, id)
	expect := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_api_key.one", tfjsonpath.New(path), value)
	}
	instant := knownvalue.StringRegexp(regexp.MustCompile(`^2.*Z$`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_api_key/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("data.gpurent_api_key.ci", tfjsonpath.New("id"), knownvalue.StringExact(id)),
				},
			},
			{
				Config: env.Config(dataSourceConfig(fmt.Sprintf("prefix = %q", prefix))),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("id", knownvalue.StringExact(id)), expect("name", knownvalue.StringExact("ci")),
					expect("prefix", knownvalue.StringExact(prefix)), expect("source", knownvalue.StringExact("api")),
					expect("scopes", knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact("billing:read")})),
					expect("created_at", instant), expect("expires_at", instant), expect("last_used_at", knownvalue.Null()),
				},
			},
			{
				Config: env.Config(dataSourceConfig(`name = "Наблюдатель"`)),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("id", knownvalue.StringExact(forever)), expect("scopes", knownvalue.SetSizeExact(2)),
					expect("expires_at", knownvalue.Null()),
				},
			},
		},
	})
}

// A key that expires soon leads to the warning of the example.
func TestAccAPIKeyDataSource_exampleWarnsBeforeExpiry(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	id := env.Post("api-keys", `{"name":"ci","scopes":["billing:read"],"expires_in_days":30}`)
	w := env.Workspace(env.Example("data-sources/gpurent_api_key/data-source.tf"))
	const warning = "The API key ci expires at 2"
	if output := w.Run("plan", "-no-color"); strings.Contains(acctest.WithoutFrame(output), warning) {
		t.Errorf("a warning 30 days before the expiry:\n%s", output)
	}
	env.Delete("api-keys/" + id)
	env.Post("api-keys", `{"name":"ci","scopes":["billing:read"],"expires_in_days":10}`)
	if output := w.Run("plan", "-no-color"); !strings.Contains(acctest.WithoutFrame(output), warning) {
		t.Errorf("no warning 10 days before the expiry:\n%s", output)
	}
}

func TestAccAPIKeyDataSource_errors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The test checks whole lists of keys, in their order.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "sorted-differently", "lagging-list"))
	w := env.Workspace("")
	fails := func(argument, want string) {
		t.Helper()
		w.Configure(env.Config(dataSourceConfig(argument)))
		output, err := w.Try("plan", "-no-color")
		if words := acctest.WithoutFrame(output); err == nil || !regexp.MustCompile(want).MatchString(words) {
			t.Errorf("%v, no match of %s:\n%s", err, want, output)
		}
	}
	fails(`name = "ci"`, `No API key with this name.*Existing: \S+ \(".*"\)\. The data source gpurent_api_keys lists all`)
	first := env.Post("api-keys", `{"name":"ci","scopes":["billing:read"]}`)
	second := env.Post("api-keys", `{"name":"ci","scopes":["billing:read"]}`)
	prefixes := []string{prefixOf(env, first), prefixOf(env, second)}
	fails(`name = "ci"`, fmt.Sprintf(`Several API keys have this name.*Set prefix instead of name, or delete what `+
		`you do not need: %s \("ci"\): %s, created \S+Z %s \("ci"\): %s, created \S+Z`,
		prefixes[0], first, prefixes[1], second))
	fails(`prefix = "none"`, `No API key with this prefix.*Existing: `)
}

// The arguments are checked before any request. A whole key is not accepted as a prefix, nor shown.
func TestAccAPIKeyDataSource_invalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{dataSourceConfig(), `(?i)one\s+\(and\s+only\s+one\)|Missing\s+Attribute|exactly\s+one`},
		{dataSourceConfig(`prefix = "test0000"`, `name = "ci"`), `(?i)one\s+\(and\s+only\s+one\)|exactly\s+one`},
		{dataSourceConfig(`prefix = ""`), `at\s+least\s+1`},
		{dataSourceConfig(`name = ""`), `at\s+least\s+1`},
		{dataSourceConfig(fmt.Sprintf("prefix = %q", env.APIKey)), `at\s+most\s+20,\s+got:\s+44`},
	})
}

func TestAccAPIKeyDataSource_requiresScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "instances:read", `(?s)Cannot list API keys.*lacks\s+the\s+scope\s+user:read`,
		dataSourceConfig(`name = "ci"`))
}
