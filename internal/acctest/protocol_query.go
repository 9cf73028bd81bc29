package acctest

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
)

// Found is one result of a query.
type Found struct {
	Name     string         // to show
	Identity map[string]any // as JSON has it: numbers are float64
	Resource map[string]any // nil where it was not asked for

	typeName string
	identity *tfprotov6.ResourceIdentityData
	resource *tfprotov6.DynamicValue
}

// Query is terraform query: it validates, and runs the query at an address such as
// "list.gpurent_instance.all". A provider that finds more than it was asked for
// fails the test.
func (p *Protocol) Query(config, address string) (found []Found, diags []*tfprotov6.Diagnostic) {
	p.env.t.Helper()
	parsed := p.parse(config)
	if diags = p.validate(parsed); Failed(diags) {
		return nil, diags
	}
	query := parsed.find(p.env.t, address)
	diags = append(diags, p.with(parsed, p.vars, func(provider *process) []*tfprotov6.Diagnostic {
		value, diags := query.arguments(p.env.t, provider.schema(p.env.t, query), p.vars.known())
		terms, problems := query.terms(p.vars.known())
		if diags = append(diags, problems...); Failed(diags) {
			return diags
		}
		stream, err := provider.ListResource(p.env.t.Context(), &tfprotov6.ListResourceRequest{
			TypeName: query.typeName, Config: pack(p.env.t, value), IncludeResource: terms.include.True(), Limit: terms.most(),
		})
		identities := provider.identityType(p.env.t, query.typeName)
		for result := range must(p.env.t, stream, err).Results {
			diags = append(diags, result.Diagnostics...)
			if result.Identity == nil {
				continue // it is nothing but what it says
			}
			found = append(found, Found{
				Name:     result.DisplayName,
				Identity: unpack(p.env.t, result.Identity.IdentityData, identities),
				Resource: unpack(p.env.t, result.Resource, provider.resourceType(p.env.t, query.typeName)),
				typeName: query.typeName, identity: result.Identity, resource: result.Resource,
			})
		}
		if int64(len(found)) > terms.most() {
			p.env.t.Errorf("%s found %d, and was asked for %d at most", address, len(found), terms.most())
		}
		return diags
	})...)
	return found, diags
}

// terms are what a query says to the CLI.
type terms struct{ include, limit cty.Value }

// most is how many results are asked for: a hundred where the query does not say.
func (t terms) most() int64 {
	if t.limit.IsNull() || !t.limit.IsKnown() {
		return 100
	}
	most, _ := t.limit.AsBigFloat().Int64()
	return most
}

func (p *process) resourceType(t testing.TB, typeName string) cty.Type {
	t.Helper()
	return ctyType(t, p.schemas.ResourceSchemas[typeName].ValueType())
}

func (p *process) identityType(t testing.TB, typeName string) cty.Type {
	t.Helper()
	resp, err := p.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	schema, ok := must(t, resp, err).IdentitySchemas[typeName]
	if !ok {
		t.Fatalf("%s has no identity", typeName)
	}
	return ctyType(t, schema.ValueType())
}
