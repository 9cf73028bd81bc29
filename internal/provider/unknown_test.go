package provider_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// An argument that is unknown at plan is planned as unknown: Terraform accepts no other final value than a planned one.
// For an existing object, the plan can also keep the prior value of an argument that applies at creation only.
func TestPlan_UnknownArgumentsStayUnknown(t *testing.T) {
	t.Parallel()
	required := map[string]map[string]any{
		"gpurent_instance": {"template": "pytorch", "disk_gb": int64(60), "name": "w", "offer_query": map[string]any{}},
		"gpurent_fleet": {
			"name": "w", "size": int64(1), "template": "pytorch", "disk_gb": int64(60), "offer_queries": tftypes.UnknownValue,
		},
		"gpurent_template": {"name": "own", "image": "ubuntu:24.04"},
		"gpurent_ssh_key":  {"public_key": sampleKey},
		"gpurent_api_key":  {"name": "k", "scopes": []any{"user:read"}},
	}
	for _, prefix := range []any{nil, "p-"} {
		server, schemas := acctest.ProviderServer(t)
		config := map[string]any{"base_url": tftypes.UnknownValue, "idempotency_prefix": prefix} // no request can be sent
		_, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
			Config: acctest.Pack(t, acctest.Value(schemas.Provider.ValueType(), config)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(required)), slices.Sorted(maps.Keys(schemas.ResourceSchemas))) {
			t.Fatal("the test lacks a resource")
		}
		for name, schema := range schemas.ResourceSchemas {
			p := planner{t, server, name, schema}
			prior := p.sampleState(required[name])
			for _, attribute := range schema.Block.Attributes {
				if !attribute.Optional {
					continue
				}
				arguments := maps.Clone(required[name])
				arguments[attribute.Name] = tftypes.UnknownValue
				if attribute.Name == "offer_id" {
					arguments["offer_query"] = nil
				}
				if planned := p.plan(tftypes.NewValue(schema.ValueType(), nil), arguments)[attribute.Name]; planned.IsKnown() {
					t.Errorf("%s.%s is planned as %s in a creation", name, attribute.Name, planned)
				}
				before := attributesOf(t, prior)[attribute.Name]
				if planned := p.plan(prior, arguments)[attribute.Name]; planned.IsKnown() && !planned.Equal(before) {
					t.Errorf("%s.%s is planned as %s in an update, before %s", name, attribute.Name, planned, before)
				}
			}
		}
	}
}

// planner plans one type of resource.
type planner struct {
	*testing.T
	server tfprotov6.ProviderServer
	name   string
	schema *tfprotov6.Schema
}

func (p planner) plan(prior tftypes.Value, arguments map[string]any) map[string]tftypes.Value {
	p.Helper()
	config := acctest.Value(p.schema.ValueType(), arguments)
	proposed := attributesOf(p, config)
	if !prior.IsNull() {
		for _, attribute := range p.schema.Block.Attributes {
			if attribute.Computed && proposed[attribute.Name].IsNull() {
				proposed[attribute.Name] = attributesOf(p, prior)[attribute.Name]
			}
		}
	}
	resp, err := p.server.PlanResourceChange(p.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: p.name, Config: acctest.Pack(p, config), PriorState: acctest.Pack(p, prior),
		ProposedNewState: acctest.Pack(p, tftypes.NewValue(p.schema.ValueType(), proposed)),
	})
	if err != nil {
		p.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			p.Fatalf("%s with %v: %s: %s", p.name, arguments, d.Summary, d.Detail)
		}
	}
	planned, err := resp.PlannedState.Unmarshal(p.schema.ValueType())
	if err != nil {
		p.Fatal(err)
	}
	return attributesOf(p, planned)
}

// sampleState returns a state with the arguments, and with texts and numbers for all other attributes.
func (p planner) sampleState(arguments map[string]any) tftypes.Value {
	values := map[string]tftypes.Value{}
	for _, attribute := range p.schema.Block.Attributes {
		value, typ := arguments[attribute.Name], attribute.ValueType()
		switch {
		case value == tftypes.UnknownValue, value == nil && attribute.Name == "offer_id":
			values[attribute.Name] = tftypes.NewValue(typ, nil)
		case value == nil && typ.Is(tftypes.String):
			values[attribute.Name] = tftypes.NewValue(typ, "10m")
		case value == nil && typ.Is(tftypes.Number):
			values[attribute.Name] = tftypes.NewValue(typ, int64(10))
		default:
			values[attribute.Name] = acctest.Value(typ, value)
		}
	}
	return tftypes.NewValue(p.schema.ValueType(), values)
}

func attributesOf(t testing.TB, value tftypes.Value) (attributes map[string]tftypes.Value) {
	t.Helper()
	if err := value.As(&attributes); err != nil {
		t.Fatal(err)
	}
	return attributes
}
