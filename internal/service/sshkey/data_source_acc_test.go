package sshkey_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// dataSourceConfig returns a data block with arguments.
func dataSourceConfig(arguments ...string) string {
	return "data \"gpurent_ssh_key\" \"one\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

// addKey adds a key outside of Terraform.
func addKey(env *acctest.Env, name, publicKey string) (id string) {
	return env.Post("ssh-keys", fmt.Sprintf(`{"name":%q,"public_key":%q}`, name, publicKey))
}

func TestAccSSHKeyDataSource_byNameAndByFingerprint(t *testing.T) {
	env := acctest.Start(t)
	id := addKey(env, "team-anna", exampleKey)
	other := addKey(env, "Сборка", otherKey)
	expect := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_ssh_key.one", tfjsonpath.New(path), value)
	}
	anna := []statecheck.StateCheck{
		expect("id", knownvalue.StringExact(id)), expect("name", knownvalue.StringExact("team-anna")),
		expect("type", knownvalue.StringExact("ssh-ed25519")), expect("fingerprint", knownvalue.StringExact(fingerprint)),
		expect("created_at", knownvalue.StringRegexp(regexp.MustCompile(`Z$`))),
	}
	bare := strings.TrimPrefix(fingerprint, "SHA256:")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_ssh_key/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("gpurent_instance.trainer", tfjsonpath.New("ssh_key_ids"),
						knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact(id)})),
				},
			},
			{Config: env.Config(dataSourceConfig(fmt.Sprintf("fingerprint = %q", fingerprint))), ConfigStateChecks: anna},
			{Config: env.Config(dataSourceConfig(fmt.Sprintf("fingerprint = %q", bare+"="))), ConfigStateChecks: anna},
			{
				Config:            env.Config(dataSourceConfig(`name = "Сборка"`)),
				ConfigStateChecks: []statecheck.StateCheck{expect("id", knownvalue.StringExact(other))},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("instances") },
	})
}

func TestAccSSHKeyDataSource_errors(t *testing.T) {
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
	quoted := regexp.QuoteMeta(fingerprint)
	byFingerprint := fmt.Sprintf("fingerprint = %q", fingerprint)
	fails(`name = "laptop"`, `No SSH key with this name.*The list of the API contains no SSH key\.`)
	other := addKey(env, "build", otherKey)
	fails(byFingerprint, `No SSH key with this fingerprint.*Existing: SHA256:\S+ \("build"\)\. `+
		`The data source gpurent_ssh_keys lists all of them`)
	first := addKey(env, "laptop", exampleKey)
	second := addKey(env, "laptop", exampleKey)
	both := quoted + ` \("laptop"\): ` + first + `, created \S+Z .*` + second + `, created \S+Z`
	fails(`name = "laptop"`, `Several SSH keys have this name.*Set fingerprint instead of name, or delete what you do `+
		`not need: `+both)
	fails(byFingerprint, `Several SSH keys have this fingerprint.*Set name instead of fingerprint, or delete what you `+
		`do not need: `+both)
	for _, id := range []string{first, second, other} {
		env.Delete("ssh-keys/" + id)
	}
}

// The arguments are checked before any request. The value of fingerprint, which can be a private key, is not shown.
func TestAccSSHKeyDataSource_invalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	valid := fmt.Sprintf("fingerprint = %q", fingerprint)
	notOne := `(?s)Not\s+a\s+fingerprint.*value\s+of\s+fingerprint:\s+this\s+is\s+not`
	env.Refuses(t, [][2]string{
		{dataSourceConfig(), `(?i)one\s+\(and\s+only\s+one\)|Missing\s+Attribute|exactly\s+one`},
		{dataSourceConfig(valid, `name = "laptop"`), `(?i)one\s+\(and\s+only\s+one\)|exactly\s+one`},
		{dataSourceConfig(`name = ""`), `at\s+least\s+1`},
		{dataSourceConfig(`fingerprint = ""`), `at\s+least\s+1`},
		{dataSourceConfig(fmt.Sprintf("fingerprint = %q", exampleKey)), notOne},
		{dataSourceConfig(`fingerprint = "MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48"`), notOne},
	})
	const secret = "MHcCAQEEIHJ1bm5pbmcgb3V0IG9mIGlkZWFz"
	w := env.Workspace(env.Config(`
variable "key" {
  type      = string
  sensitive = true # or the CLI adds the value to the error
}
data "gpurent_ssh_key" "one" {
  fingerprint = var.key
}
`))
	output, err := w.Try("plan", "-no-color", "-var", "key=-----BEGIN EC PRIVATE KEY-----\n"+secret)
	if err == nil || !strings.Contains(acctest.WithoutFrame(output), "Not a fingerprint") {
		t.Errorf("%v, want an error:\n%s", err, output)
	}
	if strings.Contains(output, secret) {
		t.Errorf("the error contains the private key:\n%s", output)
	}
}

func TestAccSSHKeyDataSource_requiresScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "instances:read", `(?s)Cannot list SSH keys.*lacks\s+the\s+scope\s+user:read`,
		dataSourceConfig(`name = "laptop"`))
}
