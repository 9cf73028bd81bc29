package apikey

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure      = (*keyResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*keyResource)(nil)
	_ resource.ResourceWithValidateConfig = (*keyResource)(nil)
	_ resource.ResourceWithImportState    = (*keyResource)(nil)
)

// creating keeps creations of keys apart.
var creating sync.Mutex

type keyResource struct{ tfkit.Resource }

func newResource() resource.Resource { return &keyResource{tfkit.Resource{Name: "api_key"}} }

// Create issues the key. A key whose secret was lost with the answer is revoked
// and issued again: nobody could use it, and nobody would miss it.
func (r *keyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	create, diags := toCreate(ctx, plan)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	postCtx, stop := tfkit.Detach(ctx)
	defer stop()
	key, err := tfkit.Once[rental.APIKeyCreated]{
		Alone:    &creating,
		Patience: r.Meta.Client.RequestTimeout(),
		List:     r.issued,
		Create: func(ctx context.Context) (rental.APIKeyCreated, error) {
			return r.Meta.Client.CreateAPIKey(ctx, create)
		},
		ID: func(k rental.APIKeyCreated) string { return k.ID },
		Same: func(k rental.APIKeyCreated) bool {
			return k.Name == create.Name && slices.Equal(slices.Sorted(slices.Values(k.Scopes)), slices.Sorted(slices.Values(create.Scopes)))
		},
		Discard: func(ctx context.Context, k rental.APIKeyCreated) error { return r.Meta.Client.DeleteAPIKey(ctx, k.ID) },
	}.Run(postCtx)
	if err != nil {
		tfkit.AddError(&resp.Diagnostics, "issue API key", err, "name", "scopes", "expires_in_days")
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, created(plan, key))...)
}

// Read refreshes the state from the listing: the API has no request for one. A
// key that has expired is as good as revoked.
func (r *keyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if r.SkipRead(&resp.Diagnostics) {
		return
	}
	var state model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.State.Raw, req.State.Schema, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	key, found, err := tfkit.Shared[tfkit.Snapshot[rental.APIKey]](r.Meta).Find(ctx, r.source(), id)
	switch {
	case err != nil:
		tfkit.AddError(&resp.Diagnostics, "read API key "+id, err)
	case !found, key.ExpiresAt != nil && !key.ExpiresAt.After(r.Meta.Client.Now()):
		resp.State.RemoveResource(ctx)
	default:
		now, diags := fromAPI(ctx, state, key)
		resp.Diagnostics.Append(diags...)
		resp.Diagnostics.Append(resp.State.Set(ctx, now)...)
	}
}

// source is where the account's active keys come from: the API has no request for
// one.
func (r *keyResource) source() tfkit.Source[rental.APIKey] {
	return tfkit.Listed(r.Meta.Client, "api-keys", func(k rental.APIKey) string { return k.ID }, r.Meta.Client.ListAPIKeys)
}

// Update makes no request: rotate_before_days is all that changes in place.
func (r *keyResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Delete revokes the key.
func (r *keyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	tfkit.Delete(ctx, req, resp, "revoke API key", r.Meta.Client.DeleteAPIKey)
}

// issued lists the account's active keys, without secrets.
func (r *keyResource) issued(ctx context.Context) ([]rental.APIKeyCreated, error) {
	var keys []rental.APIKeyCreated
	for key, err := range r.Meta.Client.ListAPIKeys(ctx, rental.ListOptions{}) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, rental.APIKeyCreated{APIKey: key})
	}
	return keys, nil
}
