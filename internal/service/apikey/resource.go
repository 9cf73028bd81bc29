// Package apikey implements API keys: the resource, the data source, the ephemeral resource and the list resource
// gpurent_api_key, and the data source gpurent_api_keys.
package apikey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure      = (*keyResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*keyResource)(nil)
	_ resource.ResourceWithValidateConfig = (*keyResource)(nil)
	_ resource.ResourceWithImportState    = (*keyResource)(nil)
	_ resource.ResourceWithIdentity       = (*keyResource)(nil)
)

type keyResource struct{ tfkit.Resource }

// NewResource returns the resource gpurent_api_key.
func NewResource() resource.Resource { return &keyResource{tfkit.Resource{Name: "api_key"}} }

// Create creates the key.
func (r *keyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	create, diags := toCreate(ctx, plan.keyModel)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	object := r.Meta.NewObject(ctx)
	key, err := issue(ctx, r.Meta, create)
	if err != nil {
		addNotIssued(&resp.Diagnostics, create, err)
		return
	}
	r.Meta.Cache.APIKeys.Created(key.APIKey)
	plan.keyModel, diags = created(ctx, plan.keyModel, key)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, types.StringValue(key.ID))...)
	resp.Diagnostics.Append(r.Meta.SetCreated(ctx, resp.Private, object)...)
}

// Read refreshes the state from the list of keys, because the API has no request for a single key. It removes an
// expired key from the state.
func (r *keyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if r.BeginRead(ctx, req, resp); !r.Meta.Ready() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	key, found, err := r.Meta.Cache.APIKeys.Find(ctx, id)
	switch {
	case err != nil:
		tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("read API key %s", id), err)
	case !found:
		r.RemoveMissing(ctx, req, resp, "API key", id, r.Meta.Cache.APIKeys.Lag())
	case key.ExpiresAt != nil && !key.ExpiresAt.After(r.Meta.Client.Now()):
		resp.State.RemoveResource(ctx)
		tfkit.AddMissing(&resp.Diagnostics, "expired API key", id)
	default:
		var diags diag.Diagnostics
		state.keyModel, diags = fromAPI(ctx, state.keyModel, key)
		resp.Diagnostics.Append(diags...)
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		r.Meta.CompleteObject(ctx, req.Private, resp.Private, &resp.Diagnostics)
		if left := daysLeft(key.ExpiresAt, r.Meta.Client.Now()); left != nil {
			resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, privateDaysLeft, *left)...)
		}
	}
}

// Update sends no request: only rotate_before_days changes in place.
func (r *keyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	tfkit.Adopt(ctx, req, resp)
}

// Delete revokes the key.
func (r *keyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	remove := func(ctx context.Context, id string) error {
		r.Meta.Cache.APIKeys.Deleted(id)
		return r.Meta.Client.DeleteAPIKey(ctx, id)
	}
	r.DeleteObject(ctx, req, resp, "revoke", "API key", r.Meta.Cache.APIKeys.Has, remove)
}
