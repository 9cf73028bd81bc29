package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Delete deletes an object that is gone as soon as the API returns success. It is no error if the
// object does not exist, for example because the response of an earlier request was lost.
func Delete(
	ctx context.Context,
	req resource.DeleteRequest,
	resp *resource.DeleteResponse,
	action Text,
	remove func(context.Context, string) error,
) {
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := remove(ctx, id.ValueString()); err != nil && !rental.IsNotFound(err) {
		AddAPIError(&resp.Diagnostics, Textf("%s %s", action, id.ValueString()), err)
	}
}
