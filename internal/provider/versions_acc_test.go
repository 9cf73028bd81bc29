package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// probe is something small that works where a row of the table does.
type probe struct {
	config string   // main.tf
	query  string   // main.tfquery.hcl, if there is one
	run    []string // the command
	want   string   // what it prints then
	lacks  string   // what a CLI that is too old says, as far as one was at hand
}

// probesFor are a probe for each row. They look for a template and a server, by
// their ids, in the account.
func probesFor(t *testing.T, template, server string) map[string]probe {
	plan := []string{"plan", "-no-color"}
	apply := []string{"apply", "-auto-approve", "-no-color"}
	const imported = `1 to import, 0 to add`
	byID := fmt.Sprintf("import {\n  to = gpurent_template.trainer\n  id = %q\n}\n", template)
	byIdentity := fmt.Sprintf("import {\n  to = gpurent_template.trainer\n  identity = {\n    id = %q\n  }\n}\n", template)
	owned := example(t, "resources/gpurent_template/resource.tf")
	return map[string]probe{
		rowResources: {
			config: "data \"gpurent_gpus\" \"all\" {}\n" + example(t, "resources/gpurent_ssh_key/resource.tf"),
			run:    apply, want: `1 added`,
		},
		rowImport:   {config: byID + owned, run: plan, want: imported},
		rowIdentity: {config: byIdentity + owned, run: plan, want: imported, lacks: `An argument named "identity" is not expected here`},
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
			run:   []string{"query", "-no-color"}, want: regexp.QuoteMeta(template), lacks: `has no command named "query"`,
		},
		rowActions: {
			config: fmt.Sprintf("action \"gpurent_instance_stop\" \"night\" {\n  config {\n    instance_id = %q\n  }\n}\n", server),
			run:    append(apply, "-invoke=action.gpurent_instance_stop.night"), want: `gpurent_instance_stop`, lacks: `flag provided but not defined: -invoke`,
		},
	}
}

// The README says what the CLI at hand does, row by row.
func TestAccProvider_theTableOfVersionsIsRight(t *testing.T) {
	// One row reads the balance.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance"))
	account := env.Workspace(fast + example(t, "resources/gpurent_template/resource.tf") + example(t, "resources/gpurent_instance/resource.tf"))
	account.Run("apply", "-auto-approve", "-no-color")
	rows, probes := versions(t), probesFor(t, onlyID(t, account, "gpurent_template"), onlyID(t, account, "gpurent_instance"))
	if len(rows) != len(probes) {
		t.Errorf("the README has %d rows, there are %d probes", len(rows), len(probes))
	}
	at, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	for row, since := range rows {
		t.Run(row, func(t *testing.T) {
			p, ok := probes[row]
			if !ok {
				t.Fatal("nothing tries this row")
			}
			workspace := env.Workspace(fast + p.config)
			if p.query != "" {
				workspace.Write("main.tfquery.hcl", p.query)
			}
			said, err := workspace.Try(p.run...)
			works := err == nil && regexp.MustCompile(p.want).MatchString(said)
			switch {
			case works != at.Has(since[at.Name]):
				t.Errorf("%s: works: %t; the README says: %t\n%s", at, works, at.Has(since[at.Name]), said)
			case !works && !strings.Contains(said, p.lacks):
				t.Errorf("%s fails for another reason than its age, which is %q:\n%s", at, p.lacks, said)
			}
		})
	}
}
