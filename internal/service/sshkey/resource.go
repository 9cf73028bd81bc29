// Package sshkey implements SSH keys: the resource, the data source and the list resource gpurent_ssh_key, the
// data source gpurent_ssh_keys, and the function ssh_fingerprint.
package sshkey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/publickey"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure   = (*keyResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*keyResource)(nil)
	_ resource.ResourceWithImportState = (*keyResource)(nil)
	_ resource.ResourceWithIdentity    = (*keyResource)(nil)
)

type keyResource struct{ tfkit.Resource }

// NewResource returns the resource gpurent_ssh_key.
func NewResource() resource.Resource { return &keyResource{tfkit.Resource{Name: "ssh_key"}} }

// Create adds the key to the account.
func (r *keyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	// A key that was unknown at plan was not validated, and can be a private key.
	if _, err := publickey.Parse(plan.PublicKey.ValueString()); err != nil {
		addNotAKey(&resp.Diagnostics, path.Root("public_key"), err)
		return
	}
	create, object := toCreate(plan), r.Meta.NewObject(ctx)
	key, err := r.Meta.Client.CreateSSHKey(ctx, create)
	if err != nil && key.ID == "" { // with an id, an error is about the rest of the response
		tfkit.AddAPIError(&resp.Diagnostics, "create SSH key", err, "name", "public_key")
		return
	}
	r.Meta.Cache.SSHKeys.Created(key)
	resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(plan, key))...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, types.StringValue(key.ID))...)
	resp.Diagnostics.Append(r.Meta.SetCreated(ctx, resp.Private, object)...)
}

// Read refreshes the state from the list of keys, because the API has no request for a single key.
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
	key, found, err := r.Meta.Cache.SSHKeys.Find(ctx, id)
	switch {
	case err != nil:
		tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("read SSH key %s", id), err)
	case !found:
		r.RemoveMissing(ctx, req, resp, "SSH key", id, r.Meta.Cache.SSHKeys.Lag())
	default:
		resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(state, key))...)
		r.Meta.CompleteObject(ctx, req.Private, resp.Private, &resp.Diagnostics)
	}
}

// Update sends no request: only the text of the same key changes in place.
func (r *keyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	tfkit.Adopt(ctx, req, resp)
}

// Delete deletes the key from the account.
func (r *keyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	remove := func(ctx context.Context, id string) error {
		r.Meta.Cache.SSHKeys.Deleted(id)
		return r.Meta.Client.DeleteSSHKey(ctx, id)
	}
	r.DeleteObject(ctx, req, resp, "delete", "SSH key", r.Meta.Cache.SSHKeys.Has, remove)
}
