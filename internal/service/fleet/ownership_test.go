package fleet_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A fleet, and an instance that is one of its members, are read beside the fleet: its plans and its destruction
// succeed. When the instance is planned, they fail, and the state keeps all that it has of the fleet.
func TestOwnership_MemberInTwoObjects(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	configured := func() acctest.Plugin {
		return acctest.Configured(t, map[string]any{"base_url": env.BaseURL, "api_key": env.APIKey})
	}
	config := map[string]any{
		"name": "train", "size": int64(2), "template": "pytorch", "disk_gb": int64(60),
		"offer_queries": []any{map[string]any{"gpu": []any{"rtx_4090"}}},
	}
	p := configured()
	plan, _ := p.Plan(p.None("gpurent_fleet"), config)
	fleet, _ := p.Apply(plan)
	id := acctest.Fetch[struct{ Data []struct{ ID string } }](env, "instances").Data[0].ID

	p = configured()
	get, diags := p.Import("gpurent_instance", id)
	expectErrors(t, "a get of a member", diags)
	_, diags = p.Import("gpurent_fleet", fleet.Text("id"))
	expectErrors(t, "a get of the fleet", diags)
	fleet, diags = p.Refresh(fleet)
	expectErrors(t, "the refresh", diags)
	for _, change := range []map[string]any{config, nil} {
		_, diags = p.Plan(fleet, change)
		expectErrors(t, "a plan", diags)
	}

	p = configured()
	_, diags = p.Plan(get, nil)
	expectErrors(t, "the plan of the instance", diags)
	twice := "Instance " + id + " is in the state twice"
	for _, change := range []map[string]any{config, nil} {
		_, diags = p.Plan(fleet, change)
		expectErrors(t, "a plan of the fleet", diags, twice)
	}
	after, diags := p.Destroy(fleet)
	expectErrors(t, "the destruction", diags, twice)
	if !after.State.Equal(fleet.State) || string(after.Private) != string(fleet.Private) {
		t.Errorf("the state is %s, before %s", after.State, fleet.State)
	}

	p = configured()
	_, diags = p.Import("gpurent_instance", id)
	expectErrors(t, "a get before the destruction", diags)
	_, diags = p.Destroy(fleet)
	expectErrors(t, "the destruction", diags)
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// Instances have the names of members of a fleet that the plan creates, as after a killed creation. Without a chosen
// key, the apply takes none of them: the warning advises against it, with an import block.
func TestPlan_OthersOfNewFleet(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	env.Post("instances", `{"offer_id":"`+offer.ID+`","template":"pytorch","disk_gb":60,"name":"train-1"}`)
	config := map[string]any{
		"name": "train", "size": int64(2), "template": "pytorch", "disk_gb": int64(60),
		"offer_queries": []any{map[string]any{"gpu": []any{"rtx_4090"}}},
	}
	const block = "  import {\n    to = gpurent_fleet.NAME\n    id = \"train\"\n  }"
	for name, test := range map[string]struct {
		prefix any
		want   []string
	}{
		"without a prefix": {nil, []string{"takes none of them", "all are billed", "do not apply", block}},
		"with a prefix":    {"prod", []string{"within recover_within", "apply takes them", "all are billed", block}},
	} {
		p := acctest.Configured(t, map[string]any{
			"base_url": env.BaseURL, "api_key": env.APIKey, "idempotency_prefix": test.prefix,
		})
		_, diags := p.Plan(p.None("gpurent_fleet"), config)
		var text strings.Builder
		for _, d := range diags {
			text.WriteString(d.Summary + "\n" + d.Detail + "\n")
		}
		for _, want := range append(test.want, "Instances have the names of members of fleet train", "(train-1)") {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: no %q in:\n%s", name, want, text.String())
			}
		}
		if strings.Contains(text.String(), "their keys prove it") {
			t.Errorf("%s: the warning of an existing fleet:\n%s", name, text.String())
		}
	}
}

// expectErrors fails the test unless the summaries of all errors are those.
func expectErrors(t *testing.T, what string, diags []*tfprotov6.Diagnostic, want ...string) {
	t.Helper()
	var got []string
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			got = append(got, d.Summary)
		}
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("%s: the errors are %q, want %q", what, got, want)
	}
}
