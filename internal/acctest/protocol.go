package acctest

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// ProviderServer returns a provider that a test calls through the plugin protocol, without a CLI, and its schemas.
func ProviderServer(t testing.TB) (tfprotov6.ProviderServer, *tfprotov6.GetProviderSchemaResponse) {
	t.Helper()
	server, err := provider.Server("test")()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range schemas.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return server, schemas
}

// Value returns a value of a type. Attributes of an object that are missing from a map are null.
func Value(typ tftypes.Type, value any) tftypes.Value {
	switch value := value.(type) {
	case map[string]any:
		attributes := map[string]tftypes.Value{}
		if typ, ok := typ.(tftypes.Map); ok {
			for name, element := range value {
				attributes[name] = Value(typ.ElementType, element)
			}
			return tftypes.NewValue(typ, attributes)
		}
		for name, attribute := range typ.(tftypes.Object).AttributeTypes {
			attributes[name] = Value(attribute, value[name])
		}
		return tftypes.NewValue(typ, attributes)
	case []any:
		var element tftypes.Type
		switch typ := typ.(type) {
		case tftypes.Set:
			element = typ.ElementType
		case tftypes.List:
			element = typ.ElementType
		}
		var elements []tftypes.Value
		for _, each := range value {
			elements = append(elements, Value(element, each))
		}
		return tftypes.NewValue(typ, elements)
	default:
		return tftypes.NewValue(typ, value)
	}
}

// Pack encodes a value for a request of the plugin protocol.
func Pack(t testing.TB, value tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	packed, err := tfprotov6.NewDynamicValue(value.Type(), value)
	if err != nil {
		t.Fatal(err)
	}
	return &packed
}

// Plugin is a configured provider that a test calls through the plugin protocol, without a CLI.
type Plugin struct {
	*testing.T
	tfprotov6.ProviderServer
	*tfprotov6.GetProviderSchemaResponse
}

// Configured returns a provider with arguments of the provider block.
func Configured(t *testing.T, arguments map[string]any) Plugin {
	t.Helper()
	server, schemas := ProviderServer(t)
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		Config: Pack(t, Value(schemas.Provider.ValueType(), arguments)), TerraformVersion: "1.15.9",
	})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatal(err, resp.Diagnostics)
	}
	return Plugin{t, server, schemas}
}

// Object is an object of a resource type in a state. Its state is null if it does not exist.
type Object struct {
	Type    string
	State   tftypes.Value
	Private []byte
}

// Attributes returns the attributes of the object.
func (o Object) Attributes() map[string]tftypes.Value { return attributes(o.State) }

func attributes(value tftypes.Value) (all map[string]tftypes.Value) {
	if err := value.As(&all); err != nil {
		panic(err)
	}
	return all
}

// Text returns an attribute that is a text.
func (o Object) Text(name string) (text string) {
	if err := o.Attributes()[name].As(&text); err != nil {
		panic(err)
	}
	return text
}

// Plan is a planned change of an object.
type Plan struct {
	Prior, Planned Object
	Config         tftypes.Value
	Replaces       []string // the attributes that force a replacement
}

// None returns an object that does not exist.
func (p Plugin) None(resourceType string) Object {
	return Object{Type: resourceType, State: p.Value(resourceType, nil)}
}

// Value returns a configuration of a resource type, and null without arguments.
func (p Plugin) Value(resourceType string, arguments map[string]any) tftypes.Value {
	typ := p.ResourceSchemas[resourceType].ValueType()
	if arguments == nil {
		return tftypes.NewValue(typ, nil)
	}
	return Value(typ, arguments)
}

// Object returns an object of a response.
func (p Plugin) Object(resourceType string, state *tfprotov6.DynamicValue, private []byte) Object {
	p.Helper()
	value, err := state.Unmarshal(p.ResourceSchemas[resourceType].ValueType())
	if err != nil {
		p.Fatal(err)
	}
	return Object{resourceType, value, private}
}

// Plan plans to create an object, to change it to arguments, or to destroy it if they are nil.
func (p Plugin) Plan(prior Object, arguments map[string]any) (Plan, []*tfprotov6.Diagnostic) {
	p.Helper()
	config := p.Value(prior.Type, arguments)
	resp, err := p.PlanResourceChange(p.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: prior.Type, Config: Pack(p, config), PriorState: Pack(p, prior.State), PriorPrivate: prior.Private,
		ProposedNewState: Pack(p, p.proposed(prior, config)),
	})
	if err != nil {
		p.Fatal(err)
	}
	plan := Plan{Prior: prior, Planned: p.Object(prior.Type, resp.PlannedState, resp.PlannedPrivate), Config: config}
	for _, path := range resp.RequiresReplace {
		plan.Replaces = append(plan.Replaces, string(path.Steps()[0].(tftypes.AttributeName)))
	}
	return plan, resp.Diagnostics
}

// proposed returns the configuration with the prior values of computed attributes.
func (p Plugin) proposed(prior Object, config tftypes.Value) tftypes.Value {
	if prior.State.IsNull() || config.IsNull() {
		return config
	}
	before, now := prior.Attributes(), attributes(config)
	for _, attribute := range p.ResourceSchemas[prior.Type].Block.Attributes {
		if attribute.Computed && now[attribute.Name].IsNull() {
			now[attribute.Name] = before[attribute.Name]
		}
	}
	return tftypes.NewValue(config.Type(), now)
}

// Apply applies a plan, which another process may have made.
func (p Plugin) Apply(plan Plan) (Object, []*tfprotov6.Diagnostic) {
	p.Helper()
	resp, err := p.ApplyResourceChange(p.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: plan.Prior.Type, Config: Pack(p, plan.Config), PriorState: Pack(p, plan.Prior.State),
		PlannedState: Pack(p, plan.Planned.State), PlannedPrivate: plan.Planned.Private,
	})
	if err != nil {
		p.Fatal(err)
	}
	return p.Object(plan.Prior.Type, resp.NewState, resp.Private), resp.Diagnostics
}

// Destroy destroys an object without a plan.
func (p Plugin) Destroy(o Object) (Object, []*tfprotov6.Diagnostic) {
	p.Helper()
	none := p.None(o.Type)
	none.Private = o.Private
	return p.Apply(Plan{Prior: o, Planned: none, Config: none.State})
}

// Refresh reads an object.
func (p Plugin) Refresh(o Object) (Object, []*tfprotov6.Diagnostic) {
	p.Helper()
	resp, err := p.ReadResource(p.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: o.Type, CurrentState: Pack(p, o.State), Private: o.Private,
	})
	if err != nil {
		p.Fatal(err)
	}
	return p.Object(o.Type, resp.NewState, resp.Private), resp.Diagnostics
}

// Import imports an object and reads it, without a plan, as `terraform import` and the `get` of Pulumi do.
func (p Plugin) Import(resourceType, id string) (Object, []*tfprotov6.Diagnostic) {
	p.Helper()
	resp, err := p.ImportResourceState(p.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: resourceType, ID: id})
	if err != nil {
		p.Fatal(err)
	}
	if len(resp.ImportedResources) == 0 {
		return p.None(resourceType), resp.Diagnostics
	}
	imported := resp.ImportedResources[0]
	return p.Refresh(p.Object(resourceType, imported.State, imported.Private))
}
