// Package instance has the resource and the list resource gpurent_instance, the data sources for instances and their
// logs, the actions that start, stop and restart an instance, and the function ssh_config.
package instance

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure   = (*instanceResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*instanceResource)(nil)
	_ resource.ResourceWithImportState = (*instanceResource)(nil)
	_ resource.ResourceWithIdentity    = (*instanceResource)(nil)
)

// Default timeouts. A start can pull tens of gigabytes of image.
const (
	createTimeout = 30 * time.Minute
	updateTimeout = 30 * time.Minute
	deleteTimeout = 15 * time.Minute
)

type instanceResource struct{ tfkit.Resource }

// NewResource returns the resource gpurent_instance.
func NewResource() resource.Resource { return &instanceResource{tfkit.Resource{Name: "instance"}} }

// Create rents the instance, saves its id, and waits until it is ready.
func (r *instanceResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.createTimeout(ctx)
	resp.Diagnostics.Append(diags...)
	object := r.Meta.NewObject(ctx)
	order := plan.toOrder(r.keySeed(plan, &resp.Diagnostics), lifecycle.Object{Token: object.Token}, r.Meta.RecoverWithin)
	if resp.Diagnostics.HasError() {
		return
	}
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// 1. Rent: an offer, a key and the request.
	rented, err := r.Meta.Market.Search(plan.demand()).Rent(waitCtx, order)
	if err != nil {
		r.addNotCreated(ctx, &resp.Diagnostics, plan.demand().Queries, err)
		return
	}
	// 2. Save it before anything else can fail: without its id in the state, it would be billed unnoticed.
	plan.setRented(rented)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, plan.ID)...)
	resp.Diagnostics.Append(r.Meta.SetCreated(ctx, resp.Private, object)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, rented.Instance))...)
	// 3. Converge: compare it with the order, and wait; or destroy what must not run.
	now, err := r.Meta.Lifecycle.ConvergeRented(waitCtx, rented, plan.target())
	if rejected, ok := errors.AsType[lifecycle.Rejected](err); ok && rejected.Removal == lifecycle.Destroyed {
		resp.State.RemoveResource(ctx)
		resp.Identity.Raw = tftypes.NewValue(resp.Identity.Raw.Type(), nil)
		tfinstance.AddFailure(&resp.Diagnostics, err, now.Instance, "")
		return
	}
	plan.QuotedKopH = types.Int64Value(cmp.Or(rented.Price.RunningKopH, now.Price.RunningKopH))
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, now.Instance))...)
	resp.Diagnostics.Append(setNotReady(ctx, resp.Private, plan, err)...)
	addRented(&resp.Diagnostics, rented)
	if err != nil {
		r.addCreatedNotReady(ctx, &resp.Diagnostics, now.Instance, plan.KeepOnTimeout.ValueBool(), timeout, err)
		return
	}
	addMissingAddress(&resp.Diagnostics, now, r.Meta.Lifecycle.SSHTimeout())
}

// setRented plans the values that describe how the instance was rented.
func (m *model) setRented(rented lifecycle.Rented) {
	m.ID = types.StringValue(rented.ID)
	m.RentedOfferID, m.MatchedQuery = types.StringNull(), types.Int64Null()
	m.RentedOffer = noRentedOffer
	m.QuotedKopH = types.Int64Value(rented.Price.RunningKopH)
	if rented.Candidate == nil {
		return
	}
	m.RentedOfferID = types.StringValue(rented.Candidate.Offer.ID)
	if rented.Candidate.Known() {
		m.RentedOffer = rentedOfferValue(rented.Candidate.Offer)
	}
	if !m.OfferQuery.IsNull() {
		m.MatchedQuery = types.Int64Value(int64(rented.Candidate.Query))
	}
}

// Read refreshes the state. It removes an instance from the state only if the API reports it as destroyed or not found.
func (r *instanceResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if r.BeginRead(ctx, req, resp); !r.Meta.Ready() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	inst, found, err := r.Meta.Cache.Instances.Find(ctx, id)
	switch {
	case err != nil:
		tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("read instance %s", id), err)
		return
	case !found:
		r.RemoveMissing(ctx, req, resp, "instance", id, rental.NewInstanceLag)
		return
	case inst.Destroyed():
		resp.State.RemoveResource(ctx)
		tfkit.AddMissing(&resp.Diagnostics, "instance", id)
		return
	}
	object := r.Meta.CompleteObject(ctx, req.Private, resp.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	use := lifecycle.Read
	if imported := state.DiskGB.IsNull() || state.Template.IsNull(); imported {
		use = lifecycle.Imported
		inst = r.Meta.Client.ReadOmitted(ctx, inst)
	}
	tfinstance.Read(r.Meta, object, "", use, &resp.Diagnostics, id)
	now := fromAPI(state, inst)
	completeImport(ctx, &now)
	resp.Diagnostics.Append(resp.State.Set(ctx, now)...)
}

// completeImport sets the attributes that the API does not return: the defaults of the policies, and an offer_query. A
// plan after an import then shows only actual differences.
func completeImport(ctx context.Context, m *model) {
	if m.OnOutbid.IsNull() {
		m.OnOutbid = types.StringValue(tfinstance.DefaultOnOutbid)
	}
	if m.KeepOnTimeout.IsNull() {
		m.KeepOnTimeout = types.BoolValue(defaultKeepOnTimeout)
	}
	if m.OfferID.IsNull() && m.OfferQuery.IsNull() {
		m.OfferQuery = m.importedQuery(ctx)
	}
}

// Update renames the instance, then starts it, stops it or waits for it if the plan requires that.
func (r *instanceResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Update(ctx, updateTimeout)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, state.ID)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	var current *rental.Instance // nil until it is read
	if !plan.Name.Equal(state.Name) {
		inst, err := r.Meta.Lifecycle.Rename(ctx, id, plan.Name.ValueStringPointer())
		if err != nil {
			tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("rename instance %s", id), err, "name")
			return
		}
		if inst.Destroyed() {
			tfinstance.AddFailure(&resp.Diagnostics, lifecycle.Missing{}, inst, "")
			return
		}
		state.Name, current = plan.Name, &inst
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	}
	if !plan.Status.IsUnknown() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
		return
	}
	object := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	r.converge(ctx, state, plan, current, object.CreatedAt, timeout, resp)
}

// converge moves an existing instance to its planned state. current is the instance as just read, nil if it was not
// read.
func (r *instanceResource) converge(
	ctx context.Context, state, plan model, current *rental.Instance, createdAt time.Time, timeout time.Duration,
	resp *resource.UpdateResponse,
) {
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if current == nil {
		id := state.ID.ValueString()
		inst, err := r.Meta.Lifecycle.Get(waitCtx, id)
		if err != nil {
			r.addUpdateFailed(ctx, waitCtx, &resp.Diagnostics, rental.Instance{ID: id}, timeout, err)
			return
		}
		current = &inst
	}
	target := plan.target()
	target.CreatedAt = createdAt
	now, err := r.Meta.Lifecycle.Converge(waitCtx, *current, target)
	resp.Diagnostics.Append(setNotReady(ctx, resp.Private, plan, err)...)
	if err != nil {
		r.addUpdateFailed(ctx, waitCtx, &resp.Diagnostics, now.Instance, timeout, err)
	}
	if resp.Diagnostics.HasError() {
		// Save the arguments that need no request, and the actual state of the instance.
		failed := plan
		failed.computed = state.computed
		failed.DesiredState = state.DesiredState
		resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(failed, now.Instance))...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, now.Instance))...)
	addMissingAddress(&resp.Diagnostics, now, r.Meta.Lifecycle.SSHTimeout())
}

// Delete destroys the instance and waits until it is destroyed.
func (r *instanceResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	object := r.Meta.DeletedObject(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	kept := tfinstance.ClaimDestroyed(r.Meta, object, "", &resp.Diagnostics, id)
	if tfinstance.AddKeptForOther(&resp.Diagnostics, kept...); resp.Diagnostics.HasError() || len(kept) > 0 {
		return
	}
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	object.Prove(object.Token == "" && r.Meta.Cache.Instances.Has(waitCtx, id))
	// In an account that may be another one, a 404 is no lag of the API.
	var otherAccount diag.Diagnostics
	createdAt := object.CreatedAt
	if !r.Meta.CheckOrigin(waitCtx, object, tfkit.Textf("instance %s", id), &otherAccount) {
		createdAt = time.Time{}
	}
	accepted, err := r.Meta.Lifecycle.Destroy(waitCtx, id, createdAt)
	switch {
	case err != nil:
		addDestroyError(ctx, waitCtx, &resp.Diagnostics, id, accepted, timeout, err)
		found := accepted || rental.IsConflict(err)
		resp.Diagnostics.Append(tfkit.KeepObject(ctx, resp.Private, object, found)...)
		return
	case !accepted && otherAccount.HasError():
		resp.Diagnostics.Append(otherAccount...)
		return
	}
	r.Meta.Market.Destroyed(state.RentedOfferID.ValueString())
}
