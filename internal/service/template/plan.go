package template

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ModifyPlan reports an error for a replacement, and a warning for a new template, if the account can have no more
// templates. Terraform plans a replacement twice: as a change, then as a creation with the private state of the old
// template. An apply plans only the creation, without it, so it never fails here after it has destroyed something.
func (r *templateResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() || !req.State.Raw.IsNull() || !r.Meta.Ready() {
		return
	}
	replaced := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	r.checkLimit(ctx, replaced.Token != "", &resp.Diagnostics)
}

// checkLimit compares the number of own templates with the limit of the API.
func (r *templateResource) checkLimit(ctx context.Context, replaces bool, diags *diag.Diagnostics) {
	listing, err := r.Meta.Cache.Templates.List(ctx)
	if err != nil {
		if replaces {
			tfkit.AddAPIError(diags, "list templates", err)
		}
		return
	}
	own := 0
	for _, template := range listing.Items {
		if template.Owner == rental.OwnerMe {
			own++
		}
	}
	switch {
	case own < maxOwnTemplates:
	case replaces:
		addCannotReplace(diags, own)
	default:
		addLimitReached(diags, own)
	}
}
