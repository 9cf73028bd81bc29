package instance_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func (tf *core) attribute(s *resourceState, name string) tftypes.Value {
	tf.Helper()
	var attributes map[string]tftypes.Value
	if err := s.state.As(&attributes); err != nil {
		tf.Fatal(err)
	}
	return attributes[name]
}

// fetch returns the instance of a resource. It fails the test unless it is the only instance of the account.
func (tf *core) fetch(env *acctest.Env, s *resourceState) (inst struct {
	ID, Status string
},
) {
	tf.Helper()
	if s == nil {
		tf.Fatal("the state has no server")
	}
	inst.ID = tf.idOf(s)
	inst = acctest.Fetch[struct{ ID, Status string }](env, "instances/"+inst.ID)
	return inst
}

// with returns a value with another attribute.
func (tf *core) with(value tftypes.Value, name string, attribute any) tftypes.Value {
	tf.Helper()
	attributes := map[string]tftypes.Value{}
	if err := value.As(&attributes); err != nil {
		tf.Fatal(err)
	}
	attributes[name] = acctest.Value(attributes[name].Type(), attribute)
	return tftypes.NewValue(value.Type(), attributes)
}

const instanceType = "gpurent_instance"

// core is a provider that is configured once and plans and applies any number of times, like "terraform test" and
// programs that embed a provider.
type core struct {
	*testing.T
	server  tfprotov6.ProviderServer
	schemas *tfprotov6.GetProviderSchemaResponse
}

// resourceState is the state of a resource in a core.
type resourceState struct {
	state   tftypes.Value
	private []byte
}

// newProvider configures the provider with further arguments.
func newProvider(t *testing.T, env *acctest.Env, arguments map[string]any) *core {
	t.Helper()
	env.AddSSHKey()
	server, schemas := acctest.ProviderServer(t)
	tf := &core{T: t, server: server, schemas: schemas}
	config := map[string]any{"base_url": env.BaseURL, "api_key": env.APIKey, "poll_interval": "1ms"}
	for name, value := range arguments {
		config[name] = value
	}
	packed := tf.pack(acctest.Value(tf.schemas.Provider.ValueType(), config))
	resp, err := server.ConfigureProvider(
		t.Context(),
		&tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.15.9", Config: packed},
	)
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatalf("configuring the provider: %v %v", err, resp.Diagnostics)
	}
	return tf
}

func (tf *core) pack(value tftypes.Value) *tfprotov6.DynamicValue {
	tf.Helper()
	return acctest.Pack(tf.T, value)
}

func (tf *core) unpack(packed *tfprotov6.DynamicValue) tftypes.Value {
	tf.Helper()
	value, err := packed.Unmarshal(tf.schema().ValueType())
	if err != nil {
		tf.Fatal(err)
	}
	return value
}

func (tf *core) schema() *tfprotov6.Schema { return tf.schemas.ResourceSchemas[instanceType] }

// instancePlan is a plan for one instance.
type instancePlan struct {
	state    *tfprotov6.DynamicValue
	private  []byte
	replaces bool
	diags    []*tfprotov6.Diagnostic
}

// plan plans a new instance for nil, else a change.
func (tf *core) plan(prior *resourceState, config map[string]any) instancePlan {
	tf.Helper()
	if prior == nil {
		return tf.planChange(tftypes.NewValue(tf.schema().ValueType(), nil), nil, config)
	}
	return tf.planChange(prior.state, prior.private, config)
}

func (tf *core) planChange(prior tftypes.Value, private []byte, config map[string]any) instancePlan {
	tf.Helper()
	value := acctest.Value(tf.schema().ValueType(), config)
	resp, err := tf.server.PlanResourceChange(tf.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName:         instanceType,
		Config:           tf.pack(value),
		PriorState:       tf.pack(prior),
		PriorPrivate:     private,
		ProposedNewState: tf.pack(tf.proposed(prior, value)),
	})
	if err != nil {
		tf.Fatal(err)
	}
	return instancePlan{resp.PlannedState, resp.PlannedPrivate, len(resp.RequiresReplace) > 0, resp.Diagnostics}
}

// planDestroy plans to destroy the instance.
func (tf *core) planDestroy(s *resourceState) []*tfprotov6.Diagnostic {
	tf.Helper()
	none := tf.pack(tftypes.NewValue(tf.schema().ValueType(), nil))
	resp, err := tf.server.PlanResourceChange(tf.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: instanceType, Config: none, PriorState: tf.pack(s.state), PriorPrivate: s.private, ProposedNewState: none,
	})
	if err != nil {
		tf.Fatal(err)
	}
	return resp.Diagnostics
}

// proposed returns the proposed new state: the configuration, and the prior values of computed attributes.
func (tf *core) proposed(prior, config tftypes.Value) tftypes.Value {
	tf.Helper()
	if prior.IsNull() {
		return config
	}
	var before, now map[string]tftypes.Value
	if err := prior.As(&before); err != nil {
		tf.Fatal(err)
	}
	if err := config.As(&now); err != nil {
		tf.Fatal(err)
	}
	for _, attribute := range tf.schema().Block.Attributes {
		if attribute.Computed && now[attribute.Name].IsNull() {
			now[attribute.Name] = before[attribute.Name]
		}
	}
	return tftypes.NewValue(config.Type(), now)
}

// apply plans an instance again, as Terraform does, and applies the plan.
func (tf *core) apply(prior *resourceState, config map[string]any) (*resourceState, []*tfprotov6.Diagnostic) {
	tf.Helper()
	plan := tf.plan(prior, config)
	if hasError(plan.diags) {
		return prior, plan.diags
	}
	before := tftypes.NewValue(tf.schema().ValueType(), nil)
	if prior != nil {
		before = prior.state
	}
	after, diags := tf.change(before, plan, acctest.Value(tf.schema().ValueType(), config))
	return after, append(plan.diags, diags...)
}

// refresh reads the instance.
func (tf *core) refresh(s *resourceState) {
	tf.Helper()
	if diags := tf.tryRefresh(s); len(diags) > 0 {
		tf.Fatal(diagsText(diags))
	}
}

// tryRefresh is refresh with diagnostics.
func (tf *core) tryRefresh(s *resourceState) []*tfprotov6.Diagnostic {
	tf.Helper()
	resp, err := tf.server.ReadResource(
		tf.Context(),
		&tfprotov6.ReadResourceRequest{TypeName: instanceType, CurrentState: tf.pack(s.state), Private: s.private},
	)
	if err != nil {
		tf.Fatal(err)
	}
	s.state, s.private = tf.unpack(resp.NewState), resp.Private
	return resp.Diagnostics
}

// destroy destroys the instance.
func (tf *core) destroy(s *resourceState) []*tfprotov6.Diagnostic {
	tf.Helper()
	after, diags := tf.tryDestroy(s)
	if after != nil {
		tf.Errorf("it is still there: %v", after.state)
	}
	return diags
}

// tryDestroy is destroy for an instance that may stay in the state.
func (tf *core) tryDestroy(s *resourceState) (after *resourceState, diags []*tfprotov6.Diagnostic) {
	tf.Helper()
	none := tftypes.NewValue(tf.schema().ValueType(), nil)
	return tf.change(s.state, instancePlan{state: tf.pack(none), private: s.private}, none)
}

func (tf *core) change(
	before tftypes.Value,
	plan instancePlan,
	config tftypes.Value,
) (*resourceState, []*tfprotov6.Diagnostic) {
	tf.Helper()
	resp, err := tf.server.ApplyResourceChange(tf.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName:       instanceType,
		PriorState:     tf.pack(before),
		PlannedState:   plan.state,
		PlannedPrivate: plan.private,
		Config:         tf.pack(config),
	})
	if err != nil {
		tf.Fatal(err)
	}
	after := tf.unpack(resp.NewState)
	if after.IsNull() {
		return nil, resp.Diagnostics
	}
	return &resourceState{after, resp.Private}, resp.Diagnostics
}

func (tf *core) idOf(s *resourceState) string {
	tf.Helper()
	var attributes map[string]tftypes.Value
	var id string
	if err := s.state.As(&attributes); err != nil {
		tf.Fatal(err)
	}
	if err := attributes["id"].As(&id); err != nil {
		tf.Fatal(err)
	}
	return id
}

// applyResult is the result of apply.
type applyResult struct {
	server *resourceState
	diags  []*tfprotov6.Diagnostic
}

// absent returns the state of a resource that does not exist.
func (tf *core) absent() tftypes.Value { return acctest.Value(tf.schema().ValueType(), nil) }

// planReplacement plans a replacement as Terraform does. It returns the diagnostics of the first plan, and those of the
// second plan if it fails: Terraform shows no warnings of that. forced is -replace.
func (tf *core) planReplacement(prior *resourceState, config map[string]any, forced bool) []*tfprotov6.Diagnostic {
	tf.Helper()
	change := tf.plan(prior, config)
	if hasError(change.diags) {
		return change.diags
	}
	if !change.replaces && !forced {
		tf.Error("the plan does not replace the server")
	}
	create := tf.planChange(tf.absent(), change.private, config)
	if hasError(create.diags) {
		return append(change.diags, create.diags...)
	}
	return change.diags
}
