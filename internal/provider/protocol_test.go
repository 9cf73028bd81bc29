package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// plugin is a provider with further ways to call it.
type plugin struct{ acctest.Plugin }

func configured(t *testing.T, arguments map[string]any) plugin {
	t.Helper()
	return plugin{acctest.Configured(t, arguments)}
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

// create plans and creates an object.
func (p plugin) create(kind string, arguments map[string]any) (acctest.Object, []*tfprotov6.Diagnostic) {
	p.Helper()
	plan, _ := p.Plan(p.None(kind), arguments)
	return p.Apply(plan)
}

// createSample creates the sample of a resource.
func (p plugin) createSample(kind string) acctest.Object {
	p.Helper()
	created, diags := p.create(kind, samples[kind])
	if created.State.IsNull() {
		p.Fatal(texts(diags))
	}
	return created
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

// texts returns the texts of diagnostics.
func texts(diags []*tfprotov6.Diagnostic) (text string) {
	for _, d := range diags {
		text += d.Summary + ": " + d.Detail + "\n"
	}
	return text
}
