package instance

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure   = (*instanceResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*instanceResource)(nil)
	_ resource.ResourceWithImportState = (*instanceResource)(nil)
	_ resource.ResourceWithIdentity    = (*instanceResource)(nil)
)

// How long an operation may take where timeouts does not say. A start can pull
// tens of gigabytes of image.
const (
	createTimeout = 30 * time.Minute
	updateTimeout = 30 * time.Minute
	deleteTimeout = 15 * time.Minute
)

type instanceResource struct{ tfkit.Resource }

func newResource() resource.Resource { return &instanceResource{tfkit.Resource{Name: "instance"}} }

// Create rents the server, saves its id at once, and only then waits.
func (r *instanceResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	var plan model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	reservation := r.reserveBurn(waitCtx, plan, &resp.Diagnostics)
	defer reservation.release()
	if resp.Diagnostics.HasError() {
		return
	}
	server, ok := r.rent(waitCtx, plan, timeout, &resp.Diagnostics)
	if !ok {
		return
	}
	reservation.rented(server.Instance)
	plan, inst := server.state(plan), server.Instance
	r.fleet().ids.add(inst.ID)
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, inst))...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, types.StringValue(inst.ID))...)
	if resp.Diagnostics.HasError() {
		return
	}
	if server.takenOver {
		addTakenOver(&resp.Diagnostics, server, plan)
		resp.Diagnostics.Append(r.markTakenOver(ctx, resp.Private, inst.ID)...)
		resp.Diagnostics.Append(rememberTwin(ctx, resp.Private, server.twinTemplate)...)
		r.rename(waitCtx, plan, inst, &resp.Diagnostics)
	}
	s := r.settlerFor(plan)
	s.habit = &r.fleet().boots
	inst, err := s.settle(waitCtx, inst)
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, inst))...)
	if err != nil {
		r.reportCreateWait(ctx, &resp.Diagnostics, plan, inst, timeout, err)
	} else {
		warnOfClosedPages(&resp.Diagnostics, inst)
	}
}

// reserveBurn reserves the price that the server would have if it were rented now.
func (r *instanceResource) reserveBurn(ctx context.Context, plan model, diags *diag.Diagnostics) *burnReservation {
	if r.Meta.Run.Single() || r.Meta.Spending.MaxBurnKopH == 0 {
		return &burnReservation{}
	}
	var shown diag.Diagnostics // by the plan
	kopH, _, err := r.estimate(ctx, plan, nil, &shown)
	if err != nil {
		addUnreadableAccount(r.Meta, diags, err)
		return &burnReservation{}
	}
	return reserveBurn(ctx, r.Meta, "", kopH, kopH, diags)
}

// rename gives a server that was taken over the name it has by now.
func (r *instanceResource) rename(ctx context.Context, plan model, inst rental.Instance, diags *diag.Diagnostics) {
	if plan.Name.Equal(types.StringPointerValue(inst.Name)) {
		return
	}
	if _, err := r.Meta.Client.UpdateInstance(ctx, inst.ID, rental.InstanceUpdate{Name: plan.Name.ValueStringPointer()}); err != nil {
		diags.AddWarning("Instance "+inst.ID+" was not renamed", "The next apply tries again. "+err.Error())
	}
}

// Read refreshes the state. Only a server that is surely gone leaves it.
func (r *instanceResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	if r.SkipRead(ctx, req, resp) {
		return
	}
	var state model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.State.Raw, req.State.Schema, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	r.fleet().ids.add(state.ID.ValueString())
	inst, found, err := r.fleet().find(ctx, r.Meta, state.ID.ValueString())
	switch {
	case err != nil:
		tfkit.AddError(&resp.Diagnostics, "read instance "+state.ID.ValueString(), err)
	case !found, gone(inst):
		r.fleet().forget(state.ID.ValueString())
		resp.State.RemoveResource(ctx)
	default:
		now := fromAPI(state, inst)
		if isTwin(ctx, req.Private, inst.Template.Slug) {
			now.Template = state.Template
		}
		resp.Diagnostics.Append(completeImport(ctx, &now)...)
		r.fleet().state.read(now)
		if !tfkit.Same(&state, &now) {
			resp.Diagnostics.Append(resp.State.Set(ctx, now)...)
		}
	}
}

// Update renames, then starts, stops or waits where the plan said so.
func (r *instanceResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	var state, plan model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.State.Raw, req.State.Schema, &state)...)
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	timeout, diags := plan.Timeouts.Update(ctx, updateTimeout)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, state.ID)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var seen *rental.Instance
	if !plan.Name.Equal(state.Name) {
		inst, err := r.Meta.Client.UpdateInstance(ctx, state.ID.ValueString(), rental.InstanceUpdate{Name: plan.Name.ValueStringPointer()})
		if err != nil {
			tfkit.AddError(&resp.Diagnostics, "rename instance "+state.ID.ValueString(), err, "name")
			return
		}
		state.Name, seen = plan.Name, &inst
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	}
	if !plan.Status.IsUnknown() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
		return
	}
	r.converge(ctx, state, plan, seen, timeout, resp)
}

// converge brings an existing server to where the plan wants it. seen is the server
// as it was just told; nil when nothing was asked yet.
func (r *instanceResource) converge(ctx context.Context, state, plan model, seen *rental.Instance, timeout time.Duration, resp *resource.UpdateResponse) {
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if seen == nil {
		inst, err := r.fleet().watch.now(waitCtx, r.Meta.Client, state.ID.ValueString(), r.Meta.MaxAge(recently))
		if err != nil {
			tfkit.AddError(&resp.Diagnostics, "read instance "+state.ID.ValueString(), err)
			return
		}
		seen = &inst
	}
	if judge(sightingOf(*seen), rental.DesiredState(plan.DesiredState.ValueString()), plan.OnOutbid.ValueString()) == stepStart {
		reservation := reserveBurn(waitCtx, r.Meta, seen.ID, seen.Price.RunningKopH, startOf(*seen).added, &resp.Diagnostics)
		defer reservation.release()
		if resp.Diagnostics.HasError() {
			return
		}
	}
	inst, err := r.settlerFor(plan).settle(waitCtx, *seen)
	if err != nil {
		r.reportUpdateWait(ctx, &resp.Diagnostics, inst, timeout, err)
	}
	if resp.Diagnostics.HasError() {
		// What acts without a request has been taken over all the same.
		failed := plan
		keepComputed(state, &failed)
		failed.DesiredState = state.DesiredState
		state = failed
		resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(state, inst))...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, inst))...)
	warnOfClosedPages(&resp.Diagnostics, inst)
}

// Delete destroys the server and waits until it is gone.
func (r *instanceResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	var state model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.State.Raw, req.State.Schema, &state)...)
	timeout, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	r.fleet().ids.add(state.ID.ValueString())
	successor, diags := r.hasSuccessor(ctx, req.Private, state.ID.ValueString())
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if successor {
		r.fleet().replacing.remove(state.ID.ValueString())
		addNotReplaced(&resp.Diagnostics, state)
		return
	}
	if state.Status.ValueString() == string(rental.StatusFailed) {
		r.fleet().failures.add(state.RentedOfferID.ValueString())
	}
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	burn := r.fleet().burnBefore(waitCtx, r.Meta, state)
	if r.destroy(ctx, waitCtx, state.ID.ValueString(), timeout, &resp.Diagnostics); !resp.Diagnostics.HasError() {
		r.fleet().destroyed.add(state.ID.ValueString(), burn)
		r.fleet().forget(state.ID.ValueString())
	}
}

// takenOverKey is where the private state says which creation received the server of an earlier run.
const takenOverKey = "taken_over"

// markTakenOver records that this creation received the server. With create_before_destroy and an unchanged
// idempotency key the state then has the server twice.
func (r *instanceResource) markTakenOver(ctx context.Context, private noteWriter, id string) diag.Diagnostics {
	creation := rand.Text()
	r.fleet().takenOver.Store(id, creation)
	return leaveNote(ctx, private, takenOverKey, creation)
}

// hasSuccessor reports whether a creation of this process received the server of a state that is to be destroyed. The
// state of that creation itself has none.
func (r *instanceResource) hasSuccessor(ctx context.Context, private noteReader, id string) (bool, diag.Diagnostics) {
	creation, taken := r.fleet().takenOver.Load(id)
	if !taken {
		return false, nil
	}
	own, diags := findNote[string](ctx, private, takenOverKey)
	return own == nil || *own != creation, diags
}

// completeImport fills in what an imported server lacks: the defaults of its
// policies and how it was rented, so that the plan after an import shows only what really differs.
func completeImport(ctx context.Context, m *model) diag.Diagnostics {
	if m.OnOutbid.IsNull() {
		m.OnOutbid = types.StringValue(outbidRestart)
	}
	if m.KeepOnTimeout.IsNull() {
		m.KeepOnTimeout = types.BoolValue(false)
	}
	if !m.OfferID.IsNull() || !m.OfferQuery.IsNull() {
		return nil
	}
	have, diags := hardwareOf(ctx, *m)
	query, problems := standIn(ctx, have)
	m.OfferQuery = query
	diags.Append(problems...)
	return diags
}

func gone(inst rental.Instance) bool {
	return judge(sightingOf(inst), rental.DesiredRunning, outbidKeep) == stepGone
}

// nameOf is empty for a server without a name.
func nameOf(inst rental.Instance) string {
	if inst.Name == nil {
		return ""
	}
	return *inst.Name
}
