package acctest

// This file is the protocol harness: a test calls the provider as Terraform does, but in its own process and without a
// CLI, so that a call takes milliseconds. Use it for what the provider decides: plans, diagnostics, the state and the
// private state after each call, runs that share a process or an account. Use Env.Workspace for what a CLI decides:
// the order of resources, taints, deposed objects, the state file.
//
//	env := acctest.Start(t)                           // the simulator, with faults, quirks and rules of a Proxy
//	p := acctest.Configured(t, env.Arguments())       // a provider process with its provider block
//	created, diags := p.Create("gpurent_ssh_key", map[string]any{"public_key": key})
//	p = acctest.Configured(t, env.Arguments())        // the next run is another process
//	refreshed, diags := p.Refresh(created)            // an Object: state and private state
//	plan, diags := p.Plan(refreshed, configuration)   // the planned object, and what forces a replacement
//	updated, diags := p.Apply(plan)
//	text, diags := p.Data("gpurent_ssh_keys", nil)    // the state of a data source
//	gone, diags := p.Destroy(updated)                 // its state is null
//
// Arguments are Go values: string, bool, int64, []any for sets and lists, map[string]any for maps and objects, nil for
// null, and tftypes.UnknownValue. Missing attributes are null. Errors of the protocol fail the test; diagnostics are
// returned, and Texts joins them. Plugin embeds the server, for calls without a method here (Pack encodes a value), and
// the schemas of all types, for tests that hold for every type. TestPlugin_LifeOfAnObject is an example.

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

// Arguments returns those of a provider block for the simulator, which polls without a pause.
func (e *Env) Arguments() map[string]any {
	arguments := map[string]any{"base_url": e.BaseURL, "api_key": e.APIKey, "poll_interval": "1ms"}
	if len(e.Quirks()) > 0 {
		arguments["request_timeout"] = timeoutWithQuirks
	}
	return arguments
}

// Texts returns the summaries and details of diagnostics; empty without any.
func Texts(diags []*tfprotov6.Diagnostic) (texts string) {
	for _, d := range diags {
		texts += d.Summary + ": " + d.Detail + "\n"
	}
	return texts
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

// Create plans an object and applies the plan.
func (p Plugin) Create(resourceType string, arguments map[string]any) (Object, []*tfprotov6.Diagnostic) {
	p.Helper()
	plan, _ := p.Plan(p.None(resourceType), arguments)
	return p.Apply(plan)
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

// Data reads a data source and returns its state as text, which is empty if it has none.
func (p Plugin) Data(dataSource string, arguments map[string]any) (state string, diags []*tfprotov6.Diagnostic) {
	p.Helper()
	typ := p.DataSourceSchemas[dataSource].ValueType()
	resp, err := p.ReadDataSource(p.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName: dataSource, Config: Pack(p, Value(typ, arguments)),
	})
	if err != nil {
		p.Fatal(err)
	}
	if resp.State == nil {
		return "", resp.Diagnostics
	}
	value, err := resp.State.Unmarshal(typ)
	if err != nil {
		p.Fatal(err)
	}
	return value.String(), resp.Diagnostics
}
