package instance

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure      = (*instanceResource)(nil)
	_ resource.ResourceWithValidateConfig = (*instanceResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*instanceResource)(nil)
	_ resource.ResourceWithImportState    = (*instanceResource)(nil)
	_ resource.ResourceWithIdentity       = (*instanceResource)(nil)
)

// Default timeouts. A start can pull tens of gigabytes of image.
const (
	createTimeout = 30 * time.Minute
	updateTimeout = 30 * time.Minute
	deleteTimeout = 15 * time.Minute
)

type instanceResource struct{ tfkit.Resource }

func newResource() resource.Resource { return &instanceResource{tfkit.Resource{Name: "instance"}} }

// Create rents the instance, saves its id, and waits until it is ready.
func (r *instanceResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.createTimeout(ctx)
	resp.Diagnostics.Append(diags...)
	request, diags := toRequest(ctx, plan)
	resp.Diagnostics.Append(diags...)
	request.KeySource = r.keySource(plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	object := r.Meta.NewObject(ctx)
	request.Object, request.RecoverWithin = placement.Object{Token: object.Token}, r.Meta.RecoverWithin
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	request.Hold = r.Meta.Spending.Rentals()
	placed, err := r.Meta.Placement.Create(waitCtx, request)
	if err != nil {
		addCreateError(&resp.Diagnostics, err, r.explainNoOffer(ctx, request.Queries, err))
		return
	}

	// Save the instance before anything else can fail: without its id in the state, it would be billed unnoticed.
	plan.RentedOfferID = tfkit.OptionalString(placed.OfferID)
	plan.RentedOffer = rentedOfferValue(placed.Offer)
	plan.MatchedQuery = matchedQueryValue(placed.MatchedQuery)
	plan.QuotedKopH = types.Int64Value(placed.Price.RunningKopH)
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, placed.Instance))...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, types.StringValue(placed.ID))...)
	resp.Diagnostics.Append(r.Meta.SetCreated(ctx, resp.Private, object)...)
	resp.Diagnostics.Append(setCreatedName(ctx, resp.Private, plan.Name, placed)...)
	if resp.Diagnostics.HasError() {
		return
	}

	if placed.AboveCap(request) {
		r.rejectAboveCap(ctx, placed, request, plan, timeout, resp)
		return
	}
	if addUnexpected(&resp.Diagnostics, placed, request); resp.Diagnostics.HasError() {
		return
	}
	if placed.Recovered {
		addRecovered(&resp.Diagnostics, placed, r.Meta.Client.Now())
	}
	target := plan.target()
	target.New = true
	target.Hold = r.Meta.Spending.Starts(placed.ID) // it may be outbid, and a new bid can cost more
	target.Accept = func(inst rental.Instance, started bool) bool {
		placed.Instance = inst
		return started || !placed.AboveCap(request) // a start checks its price itself
	}
	inst, outcome, err := r.Meta.Lifecycle.Converge(waitCtx, placed.Instance, target)
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, inst))...)
	switch {
	case lifecycle.KindOf(err) == lifecycle.Rejected:
		r.rejectAboveCap(ctx, placed, request, plan, timeout, resp)
	case err != nil:
		resp.Diagnostics.Append(setNotReady(ctx, resp.Private, plan, err)...)
		addCreateWaitError(ctx, r.Meta.Client, &resp.Diagnostics, inst, plan.KeepOnTimeout.ValueBool(), timeout, err)
	default:
		addMissingAddresses(&resp.Diagnostics, inst, outcome, r.Meta.Lifecycle.SSHTimeout())
	}
}

// setNotReady records whether a wait ended before the instance met the conditions of ready_when.
func setNotReady(ctx context.Context, private tfkit.PrivateSetter, plan model, err error) diag.Diagnostics {
	if plan.ReadyWhen.IsNull() {
		return nil
	}
	return tfkit.SetPrivate(ctx, private, privateNotReady, lifecycle.KindOf(err) == lifecycle.Interrupted)
}

// rejectAboveCap destroys a new instance that costs more than the cap, or stops one that another run may have rented.
// The instance stays in the state unless the API accepts its destruction.
func (r *instanceResource) rejectAboveCap(
	ctx context.Context, placed placement.Placed, request placement.Request, plan model, timeout time.Duration,
	resp *resource.CreateResponse,
) {
	ctx, stop := rental.Detached(ctx, rental.CancelGrace)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if placed.Replayed {
		stopped, err := r.Meta.Lifecycle.RequestStop(ctx, placed.ID)
		if err != nil {
			addRunsAboveCap(&resp.Diagnostics, placed, request, "stop", err)
			return
		}
		resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, stopped))...)
		addStoppedAboveCap(&resp.Diagnostics, placed, request)
		return
	}
	if err := r.Meta.Lifecycle.RequestDestroy(ctx, placed.ID, r.Meta.Client.Now()); err != nil {
		addRunsAboveCap(&resp.Diagnostics, placed, request, "destroy", err)
		return
	}
	r.Meta.Destroyed(placed.ID)
	resp.State.RemoveResource(ctx)
	resp.Identity.Raw = tftypes.NewValue(resp.Identity.Raw.Type(), nil)
	addDestroyedAboveCap(&resp.Diagnostics, placed, request)
}

// Read refreshes the state. It removes an instance from the state only if the API reports it as destroyed or not found.
func (r *instanceResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if r.SkipRead(ctx, req, resp) {
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
		r.Meta.WarnMissing(ctx, "instance", id, &resp.Diagnostics)
		return
	}
	object, diags := r.Meta.CompleteObject(ctx, req.Private, resp.Private)
	resp.Diagnostics.Append(diags...)
	if tfinstance.Claim(r.Meta, object, "", []string{id}, false, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	if imported := state.DiskGB.IsNull() || state.Template.IsNull(); imported {
		inst = r.Meta.Client.ReadOmitted(ctx, inst)
	}
	now := fromAPI(state, inst)
	if hasNormalizedName(ctx, req.Private, state.Name, inst) {
		now.Name = state.Name
	}
	resp.Diagnostics.Append(completeImport(ctx, &now)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, now)...)
}

// completeImport sets the attributes that the API does not return: the defaults of the policies, and an offer_query. A
// plan after an import then shows only actual differences.
func completeImport(ctx context.Context, m *model) diag.Diagnostics {
	if m.OnOutbid.IsNull() {
		m.OnOutbid = types.StringValue(string(lifecycle.OutbidRestart))
	}
	if m.KeepOnTimeout.IsNull() {
		m.KeepOnTimeout = types.BoolValue(false)
	}
	if !m.OfferID.IsNull() || !m.OfferQuery.IsNull() {
		return nil
	}
	has, diags := m.hardware(ctx)
	m.OfferQuery = importedQuery(ctx, has)
	return diags
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
			addGone(&resp.Diagnostics, id)
			return
		}
		resp.Diagnostics.Append(setNormalizedName(ctx, resp.Private, plan.Name, state.Name, inst)...)
		state.Name, current = plan.Name, &inst
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	}
	if !plan.Status.IsUnknown() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
		return
	}
	r.converge(ctx, state, plan, current, timeout, resp)
}

// converge moves an existing instance to its planned state. current is the instance as just read, nil if it was not
// read.
func (r *instanceResource) converge(
	ctx context.Context, state, plan model, current *rental.Instance, timeout time.Duration, resp *resource.UpdateResponse,
) {
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if current == nil {
		inst, err := r.Meta.Lifecycle.Get(waitCtx, state.ID.ValueString())
		if err != nil {
			addUpdateReadError(ctx, waitCtx, &resp.Diagnostics, state.ID.ValueString(), timeout, err)
			return
		}
		current = &inst
	}
	target := plan.target()
	target.Hold = r.Meta.Spending.Starts(current.ID)
	inst, outcome, err := r.Meta.Lifecycle.Converge(waitCtx, *current, target)
	resp.Diagnostics.Append(setNotReady(ctx, resp.Private, plan, err)...)
	if err != nil {
		addUpdateWaitError(ctx, r.Meta.Client, &resp.Diagnostics, inst, timeout, err)
	}
	if resp.Diagnostics.HasError() {
		// Save the arguments that need no request, and the actual state of the instance.
		failed := plan
		keepComputed(state, &failed)
		failed.DesiredState = state.DesiredState
		resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(failed, inst))...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, inst))...)
	addMissingAddresses(&resp.Diagnostics, inst, outcome, r.Meta.Lifecycle.SSHTimeout())
}

// Delete destroys the instance and waits until it is gone.
func (r *instanceResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	object, diags := tfkit.GetObject(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	if other, ok := r.Meta.Placement.Owners.Claim(id, placement.Object{Token: object.Token}); !ok {
		tfinstance.AddKeptForOther(&resp.Diagnostics, id, other)
		return
	}
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	confirmed, err := r.Meta.Lifecycle.Destroy(waitCtx, id, object.CreatedAt)
	switch {
	case err != nil:
		addDestroyError(ctx, waitCtx, &resp.Diagnostics, id, confirmed, timeout, err)
		return
	case !confirmed && !r.Meta.CheckOrigin(ctx, object, tfkit.Textf("instance %s", id), &resp.Diagnostics):
		return
	}
	r.Meta.Destroyed(id)
}
