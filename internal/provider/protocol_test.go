package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// plugin is a configured provider process that a test calls through the plugin protocol, without a CLI.
type plugin struct {
	*testing.T
	tfprotov6.ProviderServer
	*tfprotov6.GetProviderSchemaResponse
}

// configured returns a provider process with arguments of the provider block.
func configured(t *testing.T, arguments map[string]any) plugin {
	t.Helper()
	server, schemas := acctest.ProviderServer(t)
	config := acctest.Pack(t, acctest.Value(schemas.Provider.ValueType(), arguments))
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatal(err, texts(resp.Diagnostics))
	}
	return plugin{t, server, schemas}
}

// arguments returns those of a provider block for the simulator.
func arguments(env *acctest.Env) map[string]any {
	return map[string]any{"base_url": env.BaseURL, "api_key": env.APIKey, "poll_interval": "1ms"}
}

// must fails the test for an error of the protocol, which is not a diagnostic.
func must[T any](t *testing.T, resp T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// samples are the required arguments of each resource.
var samples = map[string]map[string]any{
	"gpurent_instance": {"template": "pytorch", "disk_gb": int64(60), "name": "w", "offer_query": map[string]any{}},
	"gpurent_fleet": {
		"name": "w", "size": int64(1), "template": "pytorch", "disk_gb": int64(60), "offer_queries": []any{map[string]any{}},
	},
	"gpurent_template": {"name": "own", "image": "ubuntu:24.04"},
	"gpurent_ssh_key":  {"public_key": sampleKey},
	"gpurent_api_key":  {"name": "k", "scopes": []any{"user:read"}},
}

const sampleKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIDkFKvmQJY0PZmSyZyVYIXqx0zwJ0l3VvN6bXvK2pmc"

// object is an object of a resource type in a state.
type object struct {
	kind    string
	state   tftypes.Value
	private []byte
}

func (p plugin) typeOf(kind string) tftypes.Type { return p.ResourceSchemas[kind].ValueType() }

// none is an object that does not exist.
func (p plugin) none(kind string) object {
	return object{kind, tftypes.NewValue(p.typeOf(kind), nil), nil}
}

// object returns one that a response contains.
func (p plugin) object(kind string, state *tfprotov6.DynamicValue, private []byte) object {
	p.Helper()
	value, err := state.Unmarshal(p.typeOf(kind))
	return object{kind, must(p.T, value, err), private}
}

// plan plans to change an object to arguments. Computed attributes keep their values.
func (p plugin) plan(prior object, arguments map[string]any) (object, []*tfprotov6.Diagnostic) {
	p.Helper()
	config := acctest.Value(p.typeOf(prior.kind), arguments)
	proposed := attributesOf(p.T, config)
	if !prior.state.IsNull() {
		before := attributesOf(p.T, prior.state)
		for _, attribute := range p.ResourceSchemas[prior.kind].Block.Attributes {
			if attribute.Computed && proposed[attribute.Name].IsNull() {
				proposed[attribute.Name] = before[attribute.Name]
			}
		}
	}
	resp, err := p.PlanResourceChange(p.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: prior.kind, Config: acctest.Pack(p, config), PriorState: acctest.Pack(p, prior.state),
		ProposedNewState: acctest.Pack(p, tftypes.NewValue(p.typeOf(prior.kind), proposed)), PriorPrivate: prior.private,
	})
	must(p.T, resp, err)
	return p.object(prior.kind, resp.PlannedState, resp.PlannedPrivate), resp.Diagnostics
}

// create plans and creates an object.
func (p plugin) create(kind string, arguments map[string]any) (object, []*tfprotov6.Diagnostic) {
	p.Helper()
	planned, _ := p.plan(p.none(kind), arguments)
	return p.apply(p.none(kind), planned, acctest.Value(p.typeOf(kind), arguments))
}

// destroy destroys an object.
func (p plugin) destroy(o object) (object, []*tfprotov6.Diagnostic) {
	p.Helper()
	planned := p.none(o.kind)
	planned.private = o.private
	return p.apply(o, planned, planned.state)
}

func (p plugin) apply(prior, planned object, config tftypes.Value) (object, []*tfprotov6.Diagnostic) {
	p.Helper()
	resp, err := p.ApplyResourceChange(p.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: prior.kind, Config: acctest.Pack(p, config), PriorState: acctest.Pack(p, prior.state),
		PlannedState: acctest.Pack(p, planned.state), PlannedPrivate: planned.private,
	})
	must(p.T, resp, err)
	return p.object(prior.kind, resp.NewState, resp.Private), resp.Diagnostics
}

// read refreshes an object.
func (p plugin) read(o object) (object, []*tfprotov6.Diagnostic) {
	p.Helper()
	resp, err := p.ReadResource(p.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: o.kind, CurrentState: acctest.Pack(p, o.state), Private: o.private,
	})
	must(p.T, resp, err)
	return p.object(o.kind, resp.NewState, resp.Private), resp.Diagnostics
}

// data reads a data source. It returns the state as text, empty without one.
func (p plugin) data(name string, arguments map[string]any) (state string, diags []*tfprotov6.Diagnostic) {
	p.Helper()
	typ := p.DataSourceSchemas[name].ValueType()
	resp, err := p.ReadDataSource(p.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName: name, Config: acctest.Pack(p, acctest.Value(typ, arguments)),
	})
	must(p.T, resp, err)
	if resp.State == nil {
		return "", resp.Diagnostics
	}
	value, err := resp.State.Unmarshal(typ)
	return must(p.T, value, err).String(), resp.Diagnostics
}

func attributesOf(t *testing.T, value tftypes.Value) (attributes map[string]tftypes.Value) {
	t.Helper()
	if err := value.As(&attributes); err != nil {
		t.Fatal(err)
	}
	return attributes
}

// idOf returns the id of an object.
func idOf(t *testing.T, o object) (id string) {
	t.Helper()
	if err := attributesOf(t, o.state)["id"].As(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// texts returns the texts of diagnostics.
func texts(diags []*tfprotov6.Diagnostic) (text string) {
	for _, d := range diags {
		text += d.Summary + ": " + d.Detail + "\n"
	}
	return text
}
