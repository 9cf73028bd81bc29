package tfinstance

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
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
		models := make([]string, len(listing.Items))
		for i, model := range listing.Items {
			models[i] = model.Slug
		}
		addUnknownGPUs(diags, at, len(unknown), all, nearestSlugs(unknown, models))
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

// maxNearest is how many slugs nearestSlugs returns for each unknown one.
const maxNearest = 3

// nearestSlugs returns the known slugs that each unknown one resembles most.
func nearestSlugs(unknown, known []string) (nearest []string) {
	for _, slug := range unknown {
		wanted := plainSlug(slug)
		distance := func(slug string) int { return distance(wanted, plainSlug(slug)) }
		sorted := tfkit.SortedFunc(known, func(a, b *string) int {
			return cmp.Or(distance(*a)-distance(*b), strings.Compare(*a, *b))
		})
		for _, slug := range sorted[:min(len(sorted), maxNearest)] {
			if distance(slug) <= len(wanted)/2 && !slices.Contains(nearest, slug) {
				nearest = append(nearest, slug)
			}
			if distance(slug) == 0 {
				break
			}
		}
	}
	return nearest
}

// distance returns the edit distance, at most 1 if one contains the other, such as h100 and h100sxm.
func distance(wanted, slug string) int {
	if slug == wanted {
		return 0
	}
	if slug != "" && (strings.Contains(slug, wanted) || strings.Contains(wanted, slug)) {
		return 1
	}
	return levenshtein.Distance(wanted, slug, nil)
}

// plainSlug returns a slug in lower case without separators.
func plainSlug(slug string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(slug))
}
