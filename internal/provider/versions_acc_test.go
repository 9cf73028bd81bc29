package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// versionProbe is a command that succeeds if the CLI has the feature of a row.
type versionProbe struct {
	config    string   // main.tf
	query     string   // main.tfquery.hcl; empty: none
	run       []string // arguments of the CLI
	want      string   // pattern of the output
	failsWith string   // part of the error of an older CLI; empty if unknown
}

// newProbes returns a probe for each row. They use the ids of an existing template and an existing instance.
func newProbes(t *testing.T, template, instance string) map[string]versionProbe {
	plan := []string{"plan", "-no-color"}
	apply := []string{"apply", "-auto-approve", "-no-color"}
	const imported = `1 to import, 0 to add`
	byID := fmt.Sprintf("import {\n  to = gpurent_template.trainer\n  id = %q\n}\n", template)
	byIdentity := fmt.Sprintf("import {\n  to = gpurent_template.trainer\n  identity = {\n    id = %q\n  }\n}\n", template)
	owned := example(t, "resources/gpurent_template/resource.tf")
	return map[string]versionProbe{
		rowResources: {
			config: "data \"gpurent_gpus\" \"all\" {}\n" + example(t, "resources/gpurent_ssh_key/resource.tf"),
			run:    apply, want: `1 added`,
		},
		rowImport: {config: byID + owned, run: plan, want: imported},
		rowIdentity: {config: byIdentity + owned, run: plan, want: imported,
			failsWith: `An argument named "identity" is not expected here`},
		rowGenerate: {config: byID, run: append(plan, "-generate-config-out=generated.tf"), want: imported},
		rowFunctions: {
			config: "output \"monthly\" {\n  value = provider::gpurent::monthly_kop(100)\n}\n",
			run:    apply, want: `monthly = 73000`,
		},
		rowEphemeral: {
			config: `
ephemeral "gpurent_api_key" "run" {
  name   = "run"
  scopes = ["billing:read"]
}
provider "gpurent" {
  alias   = "run"
  api_key = ephemeral.gpurent_api_key.run.secret
}
data "gpurent_balance" "now" {
  provider = gpurent.run
}
`,
			run: apply, want: `Apply complete`,
		},
		rowLists: {
			query: "list \"gpurent_template\" \"all\" {\n  provider = gpurent\n}\n",
			run:   []string{"query", "-no-color"}, want: regexp.QuoteMeta(template), failsWith: `has no command named "query"`,
		},
		rowActions: {
			config: fmt.Sprintf("action \"gpurent_instance_stop\" \"night\" {\n  config {\n    instance_id = %q\n  }\n}\n",
				instance),
			run: append(apply,
				"-invoke=action.gpurent_instance_stop.night"), want: `gpurent_instance_stop`,
			failsWith: `flag provided but not defined: -invoke`,
		},
	}
}

// The table on the index page is right for the CLI of the test.
func TestAccProvider_versionTable(t *testing.T) {
	t.Parallel()
	// One row reads the balance.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance"))
	account := env.Workspace(providerBlock + example(t, "resources/gpurent_template/resource.tf") +
		example(t, "resources/gpurent_instance/resource.tf"))
	account.Run("apply", "-auto-approve", "-no-color")
	rows, probes := versions(t), newProbes(t, onlyID(t, account, "gpurent_template"),
		onlyID(t, account, "gpurent_instance"))
	if len(rows) != len(probes) {
		t.Errorf("the index page has %d rows, want %d", len(rows), len(probes))
	}
	cli, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	for row, since := range rows {
		t.Run(row, func(t *testing.T) {
			p, ok := probes[row]
			if !ok {
				t.Fatal("no probe")
			}
			workspace := env.Workspace(providerBlock + p.config)
			if p.query != "" {
				workspace.Write("main.tfquery.hcl", p.query)
			}
			output, err := workspace.Try(p.run...)
			works := err == nil && regexp.MustCompile(p.want).MatchString(output)
			switch {
			case works != cli.Has(since[cli.Name]):
				t.Errorf("%s: works: %t; on the index page: %t\n%s", cli, works, cli.Has(since[cli.Name]), output)
			case !works && !strings.Contains(output, p.failsWith):
				t.Errorf("%s fails without %q in the error:\n%s", cli, p.failsWith, output)
			}
		})
	}
}
