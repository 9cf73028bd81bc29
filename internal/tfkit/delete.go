package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// DeleteObject deletes an object that is gone as soon as the API returns success. It is no error if the object does not
// exist, for example because the response of an earlier request was lost, unless it may belong to another account.
// exists reports whether the account has an object with an id.
func (r *Resource) DeleteObject(
	ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse, action, kind Text,
	exists func(context.Context, string) bool, remove func(context.Context, string) error,
) {
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	object := r.Meta.DeletedObject(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	object.Prove(object.Token == "" && exists(ctx, id.ValueString()))
	what := kind + Textf(" %s", id.ValueString())
	switch err := remove(ctx, id.ValueString()); {
	case rental.IsNotFound(err):
		r.Meta.CheckOrigin(ctx, object, what, &resp.Diagnostics)
	case err != nil:
		AddAPIError(&resp.Diagnostics, action+" "+what, err)
		resp.Diagnostics.Append(KeepObject(ctx, resp.Private, object, rental.IsConflict(err))...)
	}
}
