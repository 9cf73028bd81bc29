package instance

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// saved is the state of a server in the given status.
func saved(status rental.InstanceStatus, desired rental.DesiredState) model {
	started := "2026-05-06T07:08:09Z"
	m := fromAPI(model{OfferID: types.StringValue("off_1"), SSHKeyIDs: types.SetNull(types.StringType)}, rental.Instance{
		ID: "ins_1", Status: status, DesiredState: desired, Type: rental.OnDemand, Template: rental.TemplateRef{Slug: "pytorch"}, DiskGB: 60,
		SSH: &rental.SSH{Host: "h", Port: 22, User: "root", Command: "ssh root@h"},
	})
	m.OnOutbid = types.StringValue(outbidRestart)
	m.StartedAt = types.StringValue(started)
	return m
}

// What a plan says may change is exactly what an apply can change.
func TestPlanConvergence(t *testing.T) {
	for name, test := range map[string]struct {
		state       model
		wanted      string
		want        step
		wantUnknown []string
	}{
		"settled":          {saved("running", "running"), "running", stepNone, nil},
		"settled, stopped": {saved("stopped", "stopped"), "stopped", stepNone, nil},
		"to stop":          {saved("running", "running"), "stopped", stepStop, []string{"status", "stop_reason", "ssh", "urls"}},
		"to start":         {saved("stopped", "stopped"), "running", stepStart, []string{"status", "stop_reason", "ssh", "urls"}},
		"still booting":    {saved("starting", "running"), "running", stepWait, []string{"status", "stop_reason", "ssh", "urls"}},
		"failed":           {saved("failed", "running"), "running", stepReplace, []string{"status", "stop_reason", "ssh", "urls"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := test.state
			// As the framework leaves it when any argument changes.
			plan.ID, plan.Status, plan.GPU, plan.Price = types.StringUnknown(), types.StringUnknown(), types.ObjectUnknown(gpuType), types.ObjectUnknown(priceType)
			plan.DesiredState = types.StringValue(test.wanted)
			if got := planConvergence(test.state, &plan); got != test.want {
				t.Errorf("step %s, want %s", got, test.want)
			}
			unknown := map[string]bool{}
			for _, field := range test.wantUnknown {
				unknown[field] = true
			}
			for field, value := range map[string]attr.Value{
				"id": plan.ID, "status": plan.Status, "stop_reason": plan.StopReason, "gpu": plan.GPU, "template_name": plan.TemplateName, "country": plan.Country,
				"price": plan.Price, "ssh": plan.SSH, "urls": plan.URLs, "created_at": plan.CreatedAt, "started_at": plan.StartedAt,
			} {
				if value.IsUnknown() != unknown[field] {
					t.Errorf("%s planned as %s, want unknown: %t", field, value, unknown[field])
				}
			}
		})
	}
}

func TestPlanConvergenceOfAnInterruptibleServer(t *testing.T) {
	state := saved("outbid", "running")
	state.Type = types.StringValue(string(rental.Interruptible))
	state.StartedAt = types.StringNull()
	plan := state
	if got := planConvergence(state, &plan); got != stepStart || !plan.Price.IsUnknown() || !plan.StartedAt.IsUnknown() {
		t.Errorf("step %s, price %s, started_at %s: a new bid has a new price, and it may run for the first time", got, plan.Price, plan.StartedAt)
	}
}

func TestPlanConvergenceWithUnknownIntent(t *testing.T) {
	state := saved("running", "running")
	plan := state
	plan.DesiredState = types.StringUnknown()
	if got := planConvergence(state, &plan); got != stepWait || !plan.Status.IsUnknown() || plan.ID.IsUnknown() {
		t.Errorf("step %s, status %s, id %s", got, plan.Status, plan.ID)
	}
}

func TestKeepCreationArguments(t *testing.T) {
	keys := func(ids ...attr.Value) types.Set { return types.SetValueMust(types.StringType, ids) }
	a, b := types.StringValue("a"), types.StringValue("b")
	none := types.SetNull(types.StringType)
	for name, test := range map[string]struct {
		stateOffer, planOffer, wantOffer types.String
		stateKeys, planKeys, wantKeys    types.Set
		warnings                         int
	}{
		"unchanged":                {a, a, a, keys(a), keys(a), keys(a), 0},
		"another offer":            {a, b, a, none, none, none, 0},
		"an offer not known yet":   {a, types.StringUnknown(), a, none, none, none, 0},
		"adopted after an import":  {types.StringNull(), b, b, none, keys(a), keys(a), 0},
		"other keys":               {a, a, a, keys(a), keys(b), keys(a), 1},
		"keys not known yet":       {a, a, a, keys(a), types.SetUnknown(types.StringType), keys(a), 0},
		"keys no longer mentioned": {a, a, a, keys(a), none, none, 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan := model{OfferID: test.planOffer, SSHKeyIDs: test.planKeys}
			var diags diag.Diagnostics
			keepCreationArguments(model{OfferID: test.stateOffer, SSHKeyIDs: test.stateKeys}, &plan, &diags)
			if !plan.OfferID.Equal(test.wantOffer) || !plan.SSHKeyIDs.Equal(test.wantKeys) {
				t.Errorf("planned %s and %s, want %s and %s", plan.OfferID, plan.SSHKeyIDs, test.wantOffer, test.wantKeys)
			}
			if diags.HasError() || diags.WarningsCount() != test.warnings {
				t.Errorf("diagnostics %v, want %d warnings", diags, test.warnings)
			}
		})
	}
}

// The service's intent is read, not guessed from the status: a server that is
// being stopped in the console shows as a difference at once.
func TestFromAPIReadsTheIntent(t *testing.T) {
	for _, status := range []rental.InstanceStatus{"running", "stopping", "stopped", "outbid", "hibernating"} {
		for _, desired := range []rental.DesiredState{"running", "stopped"} {
			got := fromAPI(saved("running", "running"), rental.Instance{ID: "ins_1", Status: status, DesiredState: desired})
			if got.DesiredState.ValueString() != string(desired) {
				t.Errorf("status %s heading for %s reads as %s", status, desired, got.DesiredState)
			}
		}
	}
}

// Optional fields that the service leaves out must not undo what is known.
func TestFromAPIToleratesWhatIsLeftOut(t *testing.T) {
	prior := saved("running", "running")
	prior.Image = types.StringValue("ubuntu:24.04")
	got := fromAPI(prior, rental.Instance{ID: "ins_1", Status: "hibernating", Type: rental.OnDemand})
	if !got.DesiredState.Equal(prior.DesiredState) || !got.Template.Equal(prior.Template) || !got.Image.Equal(prior.Image) || !got.DiskGB.Equal(prior.DiskGB) {
		t.Errorf("got %s, %s, %s, %s", got.DesiredState, got.Template, got.Image, got.DiskGB)
	}
	for status, want := range map[rental.InstanceStatus]string{"running": "running", "stopped": "stopped", "outbid": "running"} {
		if got := fromAPI(prior, rental.Instance{ID: "ins_1", Status: status}).DesiredState.ValueString(); got != want {
			t.Errorf("status %s without a desired state reads as %s, want %s", status, got, want)
		}
	}
}
