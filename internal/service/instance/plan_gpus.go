package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// checkGPUs warns of GPU models that do not exist, also if a creation would wait for an offer or use another query.
func (r *instanceResource) checkGPUs(ctx context.Context, plan model, diags *diag.Diagnostics) {
	gpus := tfinstance.QueryGPUs(plan.OfferQuery)
	tfinstance.CheckGPUs(ctx, r.Meta, path.Root(argOfferQuery).AtName("gpu"), gpus, diags)
	tfinstance.CheckQueryGPUs(ctx, r.Meta, path.Root(argFallbackQueries), plan.FallbackQueries, diags)
}
