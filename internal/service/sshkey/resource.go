package sshkey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ resource.ResourceWithConfigure   = (*keyResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*keyResource)(nil)
	_ resource.ResourceWithImportState = (*keyResource)(nil)
	_ resource.ResourceWithIdentity    = (*keyResource)(nil)
)

// creating keeps creations of keys apart.
var creating tfkit.Creations

type keyResource struct{ tfkit.Resource }

func newResource() resource.Resource { return &keyResource{tfkit.Resource{Name: "ssh_key"}} }

// Create adds the key.
func (r *keyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	// A key that was unknown at plan was not validated: it must not be sent unseen.
	wanted, err := parse(plan.PublicKey.ValueString())
	if err != nil {
		addNotAKey(&resp.Diagnostics, path.Root("public_key"), err)
		return
	}
	create := toCreate(plan)
	key, err := tfkit.Once[rental.SSHKey]{
		Creations: &creating,
		Service:   r.Meta.Client.BaseURL(),
		InFlight:  r.Meta.Client.RequestTimeout(),
		List: func(ctx context.Context) ([]rental.SSHKey, error) {
			return tfkit.Filter(r.Meta.Client.ListSSHKeys(ctx, rental.ListOptions{}), nil)
		},
		Create: func(ctx context.Context) (rental.SSHKey, error) { return r.Meta.Client.CreateSSHKey(ctx, create) },
		ID:     func(k rental.SSHKey) string { return k.ID },
		Same: func(k rental.SSHKey) bool {
			return (k.Fingerprint == "" || canonical(k.Fingerprint) == wanted.fingerprint) && (k.Name == "" || create.Name == "" || tfkit.SameName(k.Name, create.Name))
		},
	}.Run(ctx)
	if err != nil {
		tfkit.AddError(&resp.Diagnostics, "create SSH key", err, "name", "public_key")
		return
	}
	r.snapshot().Created(key.ID, key)
	resp.Diagnostics.Append(resp.State.Set(ctx, created(plan, fromAPI(plan, key)))...)
	resp.Diagnostics.Append(tfkit.Identify(ctx, resp.Identity, types.StringValue(key.ID))...)
}

// Read refreshes the state from the listing: the API has no request for one.
func (r *keyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if r.SkipRead(ctx, req, resp) {
		return
	}
	var state model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.State.Raw, req.State.Schema, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	listed := source(r.Meta)
	listed.Lag = r.Meta.ListingLag()
	key, found, err := r.snapshot().Find(ctx, listed, id)
	switch {
	case err != nil:
		tfkit.AddError(&resp.Diagnostics, "read SSH key "+id, err)
	case !found:
		resp.State.RemoveResource(ctx)
	default:
		resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(state, key))...)
	}
}

// source is where the account's keys come from: the API has no request for one.
func source(meta *tfkit.Meta) tfkit.Source[rental.SSHKey] {
	return tfkit.Listed(meta, "ssh-keys", func(k rental.SSHKey) string { return k.ID }, meta.Client.ListSSHKeys)
}

// Update makes no request: all that can change in place is the text of a key
// that stays the same, adopted after an import.
func (r *keyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	tfkit.Adopt(ctx, req, resp)
}

// Delete removes the key from the account.
func (r *keyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	tfkit.Delete(ctx, req, resp, "delete SSH key", func(ctx context.Context, id string) error {
		r.snapshot().Deleted(id)
		return r.Meta.Client.DeleteSSHKey(ctx, id)
	})
}

func (r *keyResource) snapshot() *tfkit.Snapshot[rental.SSHKey] {
	return tfkit.Shared[tfkit.Snapshot[rental.SSHKey]](r.Meta)
}
