package template

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// privateChanged is the name of the private data in which the plan of a change passes true to the plan of a
// replacement, which has no prior state.
const privateChanged = "changed"

// ModifyPlan reports an error for a replacement, and a warning for a new template, if the account can have no more
// templates. Terraform plans a replacement twice: as a change, then as a creation. An apply plans only the creation,
// without the private data, so it never fails here after it has destroyed something.
func (r *templateResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	switch {
	case req.Plan.Raw.IsNull() || !r.Meta.Ready():
	case !req.State.Raw.IsNull():
		resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, privateChanged, true)...)
	default:
		changed, diags := tfkit.GetPrivate[bool](ctx, req.Private, privateChanged)
		resp.Diagnostics.Append(diags...)
		r.checkLimit(ctx, changed != nil, &resp.Diagnostics)
	}
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
