package tfinstance

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// CheckGPUs warns of GPU slugs that the API does not list, because no offer has them. slugs is the argument at a path.
// All checks of a plan share one request. There is none without a slug, and its failure is ignored.
func CheckGPUs(ctx context.Context, meta *tfkit.Meta, at path.Path, slugs []string, diags *diag.Diagnostics) {
	if len(slugs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	listing, err := meta.Cache.GPUs.List(ctx)
	if err != nil {
		return
	}
	all := len(slugs)
	unknown := slices.DeleteFunc(slugs, func(slug string) bool { return mayExist(listing, slug) })
	if len(unknown) > 0 {
		addUnknownGPUs(diags, at, len(unknown), all)
	}
}

// CheckQueryGPUs is CheckGPUs for the queries in a list.
func CheckQueryGPUs(ctx context.Context, meta *tfkit.Meta, at path.Path, queries types.List, diags *diag.Diagnostics) {
	for i, query := range queries.Elements() {
		object, _ := query.(types.Object)
		CheckGPUs(ctx, meta, at.AtListIndex(i).AtName("gpu"), tfkit.OfferQuery(object).GPU, diags)
	}
}

// mayExist reports whether a list has a slug, or entries that cannot be read and may have it.
func mayExist(listing *rental.Listing[rental.GPUModel], slug string) bool {
	_, found := listing.Find(slug)
	return found || slices.ContainsFunc(listing.Skipped, func(entry rental.Skipped) bool {
		return entry.ID == "" || entry.ID == slug
	})
}
