package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Delete removes what is gone the moment its request is answered. What is gone
// already, perhaps by a request of ours whose answer was lost, is no error.
func Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse, action string, remove func(context.Context, string) error) {
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := remove(ctx, id.ValueString()); err != nil && !rental.IsNotFound(err) {
		AddError(&resp.Diagnostics, action+" "+id.ValueString(), err)
	}
}
