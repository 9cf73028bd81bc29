package instance

import (
	"context"
	"errors"
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
	server, ok := r.rent(waitCtx, plan, &resp.Diagnostics)
	if !ok {
		return
	}
	reservation.rented(server.Instance)
	plan, inst := server.state(plan), server.Instance
	r.fleet().ids.add(inst.ID)
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, inst))...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, types.StringValue(inst.ID))...)
	if !server.takenOver {
		resp.Diagnostics.Append(rememberName(ctx, resp.Private, plan.Name, types.StringNull(), inst)...)
	} else {
		resp.Diagnostics.Append(leaveNote(ctx, resp.Private, takenOverKey, server.creation)...)
		resp.Diagnostics.Append(rememberTwin(ctx, resp.Private, server.twinTemplate)...)
	}
	if resp.Diagnostics.HasError() || !r.accept(ctx, server, plan, resp) {
		return
	}
	if server.takenOver {
		addTakenOver(&resp.Diagnostics, server, plan)
		r.rename(waitCtx, plan, inst, &resp.Diagnostics)
	}
	s := r.settlerFor(plan)
	s.habit = &r.fleet().boots
	s.exceedsCap = func(inst rental.Instance) bool {
		server.Instance = inst
		return s.starts == 0 && server.exceedsCap(plan) // the price of a start is checked on its own
	}
	inst, err := s.settle(waitCtx, inst)
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, inst))...)
	if errors.Is(err, exceedsCapError{}) {
		r.rejectOverpriced(ctx, server, plan, resp)
		return
	}
	if err != nil {
		r.reportCreateWait(ctx, &resp.Diagnostics, plan, inst, timeout, err)
	} else {
		s.warnOfMissing(&resp.Diagnostics, inst)
	}
}

// accept compares a server that is in the state with what was ordered. It returns false after an error.
func (r *instanceResource) accept(ctx context.Context, server rented, plan model, resp *resource.CreateResponse) bool {
	switch {
	case server.exceedsCap(plan):
		r.rejectOverpriced(ctx, server, plan, resp)
	case server.unreadable != nil:
		addUnreadable(&resp.Diagnostics, server)
	case !server.takenOver:
		addDifferences(&resp.Diagnostics, server, plan)
	}
	return !resp.Diagnostics.HasError()
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
		diags.AddWarning("Instance "+tfkit.OneLine(inst.ID)+" was not renamed", "The next apply tries again. "+err.Error())
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
		if state.DiskGB.IsNull() || state.Template.IsNull() { // after an import
			inst = readOmitted(ctx, r.Meta.Client, inst)
		}
		now := fromAPI(state, inst)
		if isStoredName(ctx, req.Private, state.Name, inst) {
			now.Name = state.Name
		}
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
		inst, err := r.setName(ctx, state.ID.ValueString(), plan.Name.ValueStringPointer())
		if err != nil {
			tfkit.AddError(&resp.Diagnostics, "rename instance "+state.ID.ValueString(), err, "name")
			return
		}
		if gone(inst) {
			addGone(&resp.Diagnostics, inst.ID)
			return
		}
		resp.Diagnostics.Append(rememberName(ctx, resp.Private, plan.Name, state.Name, inst)...)
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
			r.reportUnread(ctx, waitCtx, &resp.Diagnostics, state.ID.ValueString(), timeout, err)
			return
		}
		seen = &inst
	}
	s := r.settlerFor(plan)
	s.reserve = func(ctx context.Context, inst rental.Instance) (func(), error) {
		return reserveStart(ctx, r.Meta, inst, &resp.Diagnostics)
	}
	inst, err := s.settle(waitCtx, *seen)
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
	s.warnOfMissing(&resp.Diagnostics, inst)
}

// setName renames a server. Where no answer arrives, the name that the server has decides.
func (r *instanceResource) setName(ctx context.Context, id string, name *string) (rental.Instance, error) {
	inst, err := r.Meta.Client.UpdateInstance(ctx, id, rental.InstanceUpdate{Name: name})
	if err == nil || isDefinitive(err) {
		return inst, err
	}
	if now, readErr := r.fleet().watch.afresh(ctx, r.Meta.Client, id); readErr == nil && nameOf(now) == nameOf(rental.Instance{Name: name}) {
		return now, nil
	}
	return inst, err
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
	destroys, diags := r.beginDestroy(ctx, req.Private, state.ID.ValueString())
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if !destroys {
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
	if r.destroy(ctx, waitCtx, state.ID.ValueString(), timeout, &resp.Diagnostics); resp.Diagnostics.HasError() {
		r.fleet().keys.keepAlive(state.ID.ValueString())
		return
	}
	r.fleet().destroyed.add(state.ID.ValueString(), burn)
	r.fleet().forget(state.ID.ValueString())
}

// takenOverKey is where the private state says which creation received the server of an earlier run.
const takenOverKey = "taken_over"

// beginDestroy records that the server of a state is about to be destroyed. It is false when a creation of this run has
// taken the server over: with create_before_destroy and an unchanged idempotency_key, or after a resource was renamed.
// The state of that creation itself may destroy it.
func (r *instanceResource) beginDestroy(ctx context.Context, private noteReader, id string) (bool, diag.Diagnostics) {
	creation, diags := findNote[string](ctx, private, takenOverKey)
	if diags.HasError() {
		return false, diags
	}
	own := ""
	if creation != nil {
		own = *creation
	}
	return r.fleet().keys.destroy(id, own), diags
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
