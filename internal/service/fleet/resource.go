// Package fleet has the resource gpurent_fleet.
package fleet

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure   = (*fleetResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*fleetResource)(nil)
	_ resource.ResourceWithImportState = (*fleetResource)(nil)
	_ resource.ResourceWithIdentity    = (*fleetResource)(nil)
)

// Default timeouts. memberTimeout is for each member, because the API limits the requests per minute.
const (
	baseTimeout   = 30 * time.Minute
	deleteTimeout = 15 * time.Minute
	memberTimeout = time.Second
)

type fleetResource struct{ tfkit.Resource }

// NewResource returns the resource gpurent_fleet.
func NewResource() resource.Resource { return &fleetResource{tfkit.Resource{Name: "fleet"}} }

func (r *fleetResource) engine() *fleet.Engine {
	return &fleet.Engine{
		Cache: r.Meta.Cache, Market: r.Meta.Market, Lifecycle: r.Meta.Lifecycle, RecoverWithin: r.Meta.RecoverWithin,
	}
}

// spec returns the description of a fleet that the state contains.
func (r *fleetResource) spec(m model, object tfkit.Object) fleet.Spec {
	spec := m.spec()
	id := m.ID.ValueString()
	spec.Owner.Seed, spec.Owner.Object = lifecycle.FleetSeed(id), lifecycle.Object{Token: object.Token, Fleet: id}
	if prefix := r.Meta.IdempotencyPrefix; !prefix.IsNull() {
		spec.Owner.Chosen = lifecycle.ChosenName("fleet", prefix.ValueString(), spec.Name)
	}
	return spec
}

// setHistory sets what the private state contains about earlier applies.
func setHistory(
	ctx context.Context, private tfkit.PrivateGetter, stored privateMembers, owner *fleet.Owner, members []fleet.Member,
	diags *diag.Diagnostics,
) {
	owner.SearchedAt = tfkit.GetPrivate[time.Time](ctx, private, keySearched, diags)
	owner.GenerationsUnknown = stored == nil || slices.ContainsFunc(members, fleet.Member.Imported)
}

// Create rents all members and waits until they are ready. Every member that exists afterwards is in the state.
func (r *fleetResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, plan.applyTimeout())
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	object := r.Meta.NewObject(ctx)
	began := r.Meta.Client.Now().UTC()
	id := lifecycle.NewFleetID(plan.Name.ValueString())
	plan.ID = types.StringValue(id)
	spec := r.spec(plan, object)
	spec.Owner.Seed = cmp.Or(spec.Owner.Chosen, lifecycle.NewFleetSeed(id))
	result := r.engine().Apply(ctx, spec, nil, timeout)
	r.addResult(ctx, &resp.Diagnostics, outcome{Spec: spec, Result: result, created: true})
	plan.Instances = types.MapNull(memberType)
	if members := result.Slots(); len(result.Members) > 0 || hasUnknown(members) || !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan.withMembers(members))...)
		resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, plan.ID)...)
		resp.Diagnostics.Append(setMembers(ctx, resp.Private, members)...)
		resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, keySearched, began)...)
		resp.Diagnostics.Append(r.Meta.SetCreated(ctx, resp.Private, object)...)
	} else {
		resp.Identity.Raw = tftypes.NewValue(resp.Identity.Raw.Type(), nil)
	}
}

// Read refreshes the members. It removes those that the API reports as destroyed or not found.
func (r *fleetResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if r.BeginRead(ctx, req, resp); !r.Meta.Ready() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	private := getMembers(ctx, req.Private, &resp.Diagnostics)
	object := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if imported := state.Name.IsNull(); imported {
		r.readImported(ctx, state, object, resp)
		return
	}
	name, stored := state.Name.ValueString(), state.members(private)
	members := r.refresh(ctx, name, stored, object, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	object = r.Meta.CompleteObject(ctx, req.Private, resp.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	tfinstance.Read(r.Meta, object, state.ID.ValueString(), lifecycle.Read, &resp.Diagnostics, memberIDs(stored)...)
	state.DesiredState = readDesiredState(state.DesiredState, members)
	for i := range members {
		if !members[i].Missing() && members[i].Request.Template == "" {
			// Terraform stores no private state if the apply was killed.
			members[i].Instance = r.Meta.Client.ReadOmitted(ctx, members[i].Instance)
			members[i].Request = fleet.RequestOf(members[i].Instance)
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state.withMembers(members))...)
	resp.Diagnostics.Append(setMembers(ctx, resp.Private, members)...)
}

// refresh reads the members. It reports an error if they cannot be read, or if the API finds none of them and they may
// belong to another account, in which a slot with an unknown outcome must not be requested. If it finds one, the
// account is the right one.
func (r *fleetResource) refresh(
	ctx context.Context, name string, members []fleet.Member, object tfkit.Object, diags *diag.Diagnostics,
) []fleet.Member {
	now, notFound, err := r.engine().Refresh(ctx, members)
	if err != nil {
		tfkit.AddAPIError(diags, tfkit.Textf("read the members of fleet %s", name), err)
		return nil
	}
	known := object.Token != "" // the state contains the account
	if (len(notFound) > 0 || hasUnknown(members) && known) && len(notFound) == len(memberIDs(members)) {
		r.Meta.CheckOrigin(ctx, object, tfkit.Textf("an instance of fleet %s", name), diags)
	}
	return now
}

// hasUnknown reports whether the outcome of the creation of a member is unknown.
func hasUnknown(members []fleet.Member) bool {
	return slices.ContainsFunc(members, func(m fleet.Member) bool { return m.Unknown })
}

// Update applies the changes that the plan found. Without any, it only stores the arguments.
func (r *fleetResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Update(ctx, plan.applyTimeout())
	resp.Diagnostics.Append(diags...)
	private := getMembers(ctx, req.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, state.ID)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if !plan.Instances.IsUnknown() {
		resp.Diagnostics.Append(setDestroys(ctx, resp.Private, nil)...)
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
		return
	}
	object := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	name := state.Name.ValueString()
	members := r.refresh(ctx, name, state.adopted(plan).members(private), object, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.ID = state.ID
	spec := r.spec(plan, object)
	setHistory(ctx, req.Private, private, &spec.Owner, members, &resp.Diagnostics)
	protect(ctx, req.Private, members, &resp.Diagnostics)
	resp.Diagnostics.Append(setDestroys(ctx, resp.Private, nil)...)
	result := r.engine().Apply(ctx, spec, members, timeout)
	plan.Instances = state.Instances
	resp.Diagnostics.Append(resp.State.Set(ctx, plan.withMembers(result.Slots()))...)
	resp.Diagnostics.Append(setMembers(ctx, resp.Private, result.Slots())...)
	if !result.SearchedAt.IsZero() {
		resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, keySearched, result.SearchedAt)...)
	}
	r.addResult(ctx, &resp.Diagnostics, outcome{Spec: spec, Result: result})
}

// Delete destroys all members. Those that may still exist stay in the state.
func (r *fleetResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	private := getMembers(ctx, req.Private, &resp.Diagnostics)
	object := r.Meta.DeletedObject(ctx, req.Private, &resp.Diagnostics)
	name, members := state.Name.ValueString(), state.members(private)
	if resp.Diagnostics.HasError() {
		return
	}
	timeout, diags := state.Timeouts.Delete(ctx, deleteTimeout+time.Duration(len(members))*memberTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	tfinstance.ClaimDestroyed(r.Meta, object, state.ID.ValueString(), &resp.Diagnostics, memberIDs(members)...)
	if resp.Diagnostics.HasError() {
		return
	}
	doubt := r.checkAccount(ctx, name, members, object)
	requested := slices.Clone(members)
	for i := range requested {
		if doubt.HasError() { // a 404 is no lag of the API
			requested[i].CreatedAt = time.Time{}
		}
	}
	spec := r.spec(state, object)
	setHistory(ctx, req.Private, private, &spec.Owner, members, &resp.Diagnostics)
	result, err := r.engine().Destroy(ctx, spec, requested, timeout)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("list the members of fleet %s", name), err)
		return
	}
	tfinstance.AddKeptForOther(&resp.Diagnostics, result.KeptForOther...)
	if len(result.Recovered) > 0 {
		addFound(&resp.Diagnostics, tfkit.Textf("More instances of fleet %s were destroyed", name), result.Recovered,
			"\n\nThey were destroyed with it.")
	}
	if len(result.Failures) > 0 {
		addNotDestroyed(&resp.Diagnostics, name, result, timeout)
	}
	stays := result.Slots()
	if doubtful := notFoundOf(members, result); doubt.HasError() && len(doubtful) > 0 {
		resp.Diagnostics.Append(doubt...)
		stays = append(stays, doubtful...)
	}
	if resp.Diagnostics.HasError() {
		slices.SortStableFunc(stays, func(a, b fleet.Member) int { return cmp.Compare(a.Slot, b.Slot) })
		resp.Diagnostics.Append(resp.State.Set(ctx, state.withMembers(stays))...)
		resp.Diagnostics.Append(setMembers(ctx, resp.Private, stays)...)
		resp.Diagnostics.Append(tfkit.KeepObject(ctx, resp.Private, object, !doubt.HasError())...)
	}
}

// checkAccount returns an error if the members may belong to another account, in which a 404 proves nothing. A member
// that the API finds proves that the account is the right one.
func (r *fleetResource) checkAccount(
	ctx context.Context, name string, members []fleet.Member, object tfkit.Object,
) (doubt diag.Diagnostics) {
	ids := memberIDs(members)
	if len(ids) == 0 && (!hasUnknown(members) || object.Token == "") {
		return nil // a tainted fleet without any instance must not be an error for ever
	}
	if r.Meta.CheckOrigin(ctx, object, tfkit.Textf("an instance of fleet %s", name), &doubt) {
		return nil
	}
	if _, notFound, err := r.engine().Refresh(ctx, members); err == nil && len(notFound) < len(ids) {
		return nil
	}
	return doubt
}

// notFoundOf returns the members that a destruction has not found: instances, and slots with an unknown outcome.
func notFoundOf(members []fleet.Member, result fleet.Result) []fleet.Member {
	in := func(list []fleet.Member, slot int) bool {
		return slices.ContainsFunc(list, func(m fleet.Member) bool { return m.Slot == slot })
	}
	return slices.DeleteFunc(slices.Clone(members), func(m fleet.Member) bool {
		failed := slices.ContainsFunc(result.Failures, func(f fleet.Failure) bool { return f.Slot == m.Slot })
		missing := m.Unknown && !failed && !in(result.Recovered, m.Slot) && !in(result.Members, m.Slot)
		return !missing && !in(result.NotFound, m.Slot)
	})
}

// readImported reads the members of an imported fleet by their names.
func (r *fleetResource) readImported(
	ctx context.Context, state model, object tfkit.Object, resp *resource.ReadResponse,
) {
	id := state.ID.ValueString()
	name := nameOf(id)
	named, err := r.engine().List(ctx, name)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("list the members of fleet %s", name), err)
		return
	}
	members, err := fleet.Distinct(named)
	switch {
	case err != nil:
		addCannotImport(&resp.Diagnostics, name, err)
		return
	case len(members) == 0:
		resp.State.RemoveResource(ctx)
		return
	}
	tfinstance.Read(r.Meta, object, id, lifecycle.Imported, &resp.Diagnostics, memberIDs(members)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, state.imported(ctx, r.Meta.Client, id, members))...)
	resp.Diagnostics.Append(setMembers(ctx, resp.Private, members)...)
}
