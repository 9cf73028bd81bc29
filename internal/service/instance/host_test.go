package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const instanceType = "gpurent_instance"

// host configures a provider once and then plans and applies with it as often as a test wants, as
// "terraform test" and programs that embed a provider do.
type host struct {
	*testing.T
	server  tfprotov6.ProviderServer
	schemas *tfprotov6.GetProviderSchemaResponse
	// validates is whether it validates every resource before it plans it.
	validates bool
}

// object is a resource in the state of a host.
type object struct {
	state   tftypes.Value
	private []byte
}

// newHost configures the provider with further arguments.
func newHost(t *testing.T, env *acctest.Env, arguments map[string]any) *host {
	t.Helper()
	return configured(t, env, arguments, false)
}

// newRun configures the provider for a single plan or apply, as a CLI does for each.
func newRun(t *testing.T, env *acctest.Env, arguments map[string]any) *host {
	t.Helper()
	return configured(t, env, arguments, true)
}

func configured(t *testing.T, env *acctest.Env, arguments map[string]any, single bool) *host {
	t.Helper()
	server, schemas := acctest.ProviderServer(t)
	h := &host{T: t, server: server, schemas: schemas, validates: single}
	config := map[string]any{"base_url": env.BaseURL, "api_key": env.APIKey, "poll_interval": "1ms"}
	for name, value := range arguments {
		config[name] = value
	}
	packed := h.pack(acctest.Value(h.schemas.Provider.ValueType(), config))
	if single {
		if _, err := server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: packed}); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.15.9", Config: packed})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatalf("configuring the provider: %v %v", err, resp.Diagnostics)
	}
	return h
}

func (h *host) pack(value tftypes.Value) *tfprotov6.DynamicValue {
	h.Helper()
	return acctest.Pack(h.T, value)
}

func (h *host) unpack(packed *tfprotov6.DynamicValue) tftypes.Value {
	h.Helper()
	value, err := packed.Unmarshal(h.schema().ValueType())
	if err != nil {
		h.Fatal(err)
	}
	return value
}

func (h *host) schema() *tfprotov6.Schema { return h.schemas.ResourceSchemas[instanceType] }

// instancePlan is a plan for one instance.
type instancePlan struct {
	state    *tfprotov6.DynamicValue
	private  []byte
	replaces bool
	diags    []*tfprotov6.Diagnostic
}

// plan plans a new instance for nil, else a change.
func (h *host) plan(prior *object, config map[string]any) instancePlan {
	h.Helper()
	if prior == nil {
		return h.planChange(tftypes.NewValue(h.schema().ValueType(), nil), nil, config)
	}
	return h.planChange(prior.state, prior.private, config)
}

func (h *host) planChange(prior tftypes.Value, private []byte, config map[string]any) instancePlan {
	h.Helper()
	value := acctest.Value(h.schema().ValueType(), config)
	if h.validates {
		resp, err := h.server.ValidateResourceConfig(h.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: instanceType, Config: h.pack(value)})
		if err != nil || len(resp.Diagnostics) > 0 {
			h.Fatalf("%v %s", err, said(resp.Diagnostics))
		}
	}
	resp, err := h.server.PlanResourceChange(h.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: instanceType, Config: h.pack(value), PriorState: h.pack(prior), PriorPrivate: private, ProposedNewState: h.pack(h.proposed(prior, value)),
	})
	if err != nil {
		h.Fatal(err)
	}
	return instancePlan{resp.PlannedState, resp.PlannedPrivate, len(resp.RequiresReplace) > 0, resp.Diagnostics}
}

// planDestroy plans to destroy the instance.
func (h *host) planDestroy(o *object) []*tfprotov6.Diagnostic {
	h.Helper()
	none := h.pack(tftypes.NewValue(h.schema().ValueType(), nil))
	resp, err := h.server.PlanResourceChange(h.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: instanceType, Config: none, PriorState: h.pack(o.state), PriorPrivate: o.private, ProposedNewState: none,
	})
	if err != nil {
		h.Fatal(err)
	}
	return resp.Diagnostics
}

// proposed is what Terraform proposes: the configuration, and the prior values of what only the provider sets.
func (h *host) proposed(prior, config tftypes.Value) tftypes.Value {
	h.Helper()
	if prior.IsNull() {
		return config
	}
	var before, now map[string]tftypes.Value
	if err := prior.As(&before); err != nil {
		h.Fatal(err)
	}
	if err := config.As(&now); err != nil {
		h.Fatal(err)
	}
	for _, attribute := range h.schema().Block.Attributes {
		if attribute.Computed && now[attribute.Name].IsNull() {
			now[attribute.Name] = before[attribute.Name]
		}
	}
	return tftypes.NewValue(config.Type(), now)
}

// apply plans an instance once more, as Terraform does, and applies that.
func (h *host) apply(prior *object, config map[string]any) (*object, []*tfprotov6.Diagnostic) {
	h.Helper()
	plan := h.plan(prior, config)
	if failed(plan.diags) {
		return prior, plan.diags
	}
	before := tftypes.NewValue(h.schema().ValueType(), nil)
	if prior != nil {
		before = prior.state
	}
	after, diags := h.change(before, plan, acctest.Value(h.schema().ValueType(), config))
	return after, append(plan.diags, diags...)
}

// refresh reads the instance.
func (h *host) refresh(o *object) {
	h.Helper()
	resp, err := h.server.ReadResource(h.Context(), &tfprotov6.ReadResourceRequest{TypeName: instanceType, CurrentState: h.pack(o.state), Private: o.private})
	if err != nil || len(resp.Diagnostics) > 0 {
		h.Fatalf("%v %s", err, said(resp.Diagnostics))
	}
	o.state, o.private = h.unpack(resp.NewState), resp.Private
}

// destroy destroys the instance.
func (h *host) destroy(o *object) []*tfprotov6.Diagnostic {
	h.Helper()
	none := tftypes.NewValue(h.schema().ValueType(), nil)
	after, diags := h.change(o.state, instancePlan{state: h.pack(none), private: o.private}, none)
	if after != nil {
		h.Errorf("it is still there: %v", after.state)
	}
	return diags
}

func (h *host) change(before tftypes.Value, plan instancePlan, config tftypes.Value) (*object, []*tfprotov6.Diagnostic) {
	h.Helper()
	resp, err := h.server.ApplyResourceChange(h.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: instanceType, PriorState: h.pack(before), PlannedState: plan.state, PlannedPrivate: plan.private, Config: h.pack(config),
	})
	if err != nil {
		h.Fatal(err)
	}
	after := h.unpack(resp.NewState)
	if after.IsNull() {
		return nil, resp.Diagnostics
	}
	return &object{after, resp.Private}, resp.Diagnostics
}

func (h *host) id(o *object) string {
	h.Helper()
	var attributes map[string]tftypes.Value
	var id string
	if err := o.state.As(&attributes); err != nil {
		h.Fatal(err)
	}
	if err := attributes["id"].As(&id); err != nil {
		h.Fatal(err)
	}
	return id
}

// failed reports whether there is an error among the diagnostics.
func failed(diags []*tfprotov6.Diagnostic) bool {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return true
		}
	}
	return false
}

// said is the text of all diagnostics.
func said(diags []*tfprotov6.Diagnostic) string {
	var text strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&text, "%s: %s: %s\n", d.Severity, d.Summary, d.Detail)
	}
	return text.String()
}
