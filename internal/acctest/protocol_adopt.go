package acctest

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// Adopted is what comes of adopting something that a query found.
type Adopted struct {
	Config  map[string]any // that was written for it
	State   map[string]any // as imported
	Changes []string       // attributes that the plan of both changes
}

// Adopt does what a CLI does with what a query found, resource included: it has a
// configuration written for it, validates that, imports the thing by its identity,
// and plans.
func (p *Protocol) Adopt(config string, found Found) (adopted Adopted, diags []*tfprotov6.Diagnostic) {
	p.env.t.Helper()
	parsed := p.parse(config)
	diags = p.with(parsed, p.vars, func(provider *process) []*tfprotov6.Diagnostic {
		t, ctx, as := p.env.t, p.env.t.Context(), provider.resourceType(p.env.t, found.typeName)
		written, err := provider.GenerateResourceConfig(ctx, &tfprotov6.GenerateResourceConfigRequest{TypeName: found.typeName, State: found.resource})
		diags := must(t, written, err).Diagnostics
		if Failed(diags) {
			return diags
		}
		adopted.Config = unpack(t, written.Config, as)
		provider.complete(t, found.typeName, adopted.Config)
		valid, err := provider.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: found.typeName, Config: written.Config})
		if diags = append(diags, must(t, valid, err).Diagnostics...); Failed(diags) {
			return diags
		}
		read, more := provider.imported(t, found)
		if diags = append(diags, more...); Failed(diags) {
			return diags
		}
		adopted.State = unpack(t, read.NewState, as)
		state, wanted := value(t, read.NewState, as), value(t, written.Config, as)
		planned, err := provider.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
			TypeName: found.typeName, PriorState: read.NewState, Config: written.Config, PriorPrivate: read.Private, PriorIdentity: read.NewIdentity,
			ProposedNewState: pack(t, provider.proposed(found.typeName, state, wanted)),
		})
		if diags = append(diags, must(t, planned, err).Diagnostics...); !Failed(diags) {
			adopted.Changes = differences(state, value(t, planned.PlannedState, as))
		}
		return diags
	})
	return adopted, diags
}

// imported imports something by its identity and reads it.
func (p *process) imported(t testing.TB, found Found) (*tfprotov6.ReadResourceResponse, []*tfprotov6.Diagnostic) {
	t.Helper()
	resp, err := p.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: found.typeName, Identity: found.identity})
	diags := must(t, resp, err).Diagnostics
	if Failed(diags) {
		return nil, diags
	}
	one := resp.ImportedResources[0]
	read, err := p.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: found.typeName, CurrentState: one.State, Private: one.Private, CurrentIdentity: one.Identity,
	})
	return read, append(diags, must(t, read, err).Diagnostics...)
}

// complete fails the test where a CLI would miss an argument.
func (p *process) complete(t testing.TB, typeName string, config map[string]any) {
	t.Helper()
	for _, a := range p.schemas.ResourceSchemas[typeName].Block.Attributes {
		if a.Required && config[a.Name] == nil {
			t.Errorf("the configuration that was written lacks the required argument %s", a.Name)
		}
	}
}

// proposed is what a CLI proposes to plan: what is configured, and for the rest what
// is known already.
func (p *process) proposed(typeName string, state, config cty.Value) cty.Value {
	attributes := config.AsValueMap()
	for _, a := range p.schemas.ResourceSchemas[typeName].Block.Attributes {
		if a.Computed && attributes[a.Name].IsNull() {
			attributes[a.Name] = state.GetAttr(a.Name)
		}
	}
	return cty.ObjectVal(attributes)
}

// differences are the attributes in which two objects differ.
func differences(one, other cty.Value) (names []string) {
	for name, before := range one.AsValueMap() {
		if !before.RawEquals(other.GetAttr(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// value is a packed one as cty has it.
func value(t testing.TB, packed *tfprotov6.DynamicValue, as cty.Type) cty.Value {
	t.Helper()
	made, err := msgpack.Unmarshal(packed.MsgPack, as)
	return must(t, made, err)
}
