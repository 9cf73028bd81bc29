package tfkit

import (
	"context"
	"iter"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Listing is what a list resource finds, one thing after the other.
type Listing[T, M any] struct {
	// Noun is what they are, in the plural, for errors: "instances".
	Noun string
	// All lists what there is.
	All func(context.Context, rental.ListOptions) iter.Seq2[T, error]
	// Filters say whether one is wanted: each must. A nil one lets all pass.
	Filters []func(T) bool
	// Show is the identity of one, and what people are shown of it.
	Show func(T) (id, name string)
	// Import is the state of one as an import would have it, made from an empty one.
	Import func(empty M, item T) (M, diag.Diagnostics)
}

// Stream answers a request for a list. It reads no further than it is asked to.
func (l Listing[T, M]) Stream(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	l.Filters = slices.DeleteFunc(l.Filters, func(filter func(T) bool) bool { return filter == nil })
	options := rental.ListOptions{Stream: true}
	if len(l.Filters) == 0 {
		options.PageSize = min(req.Limit, rental.MaxPageSize)
	}
	stream.Results = func(push func(list.ListResult) bool) {
		found := int64(0)
		ctx, skipped := CollectSkipped(ctx)
		for item, err := range l.All(ctx, options) {
			if err != nil {
				var diags diag.Diagnostics
				AddError(&diags, "list "+l.Noun, err)
				push(list.ListResult{Diagnostics: diags})
				return
			}
			if slices.ContainsFunc(l.Filters, func(filter func(T) bool) bool { return !filter(item) }) {
				continue
			}
			if found++; !push(l.result(ctx, req, item)) || found == req.Limit {
				return
			}
		}
		var diags diag.Diagnostics
		if skipped.Warn(&diags, l.Noun); len(diags) > 0 {
			push(list.ListResult{Diagnostics: diags})
		}
	}
}

func (l Listing[T, M]) result(ctx context.Context, req list.ListRequest, item T) list.ListResult {
	result := req.NewListResult(ctx)
	id, name := l.Show(item)
	result.DisplayName = onOneLine(name)
	result.Diagnostics.Append(Identify(ctx, result.Identity, types.StringValue(id))...)
	if !req.IncludeResource {
		return result
	}
	var empty M
	result.Diagnostics.Append(Get(ctx, result.Resource.Raw, result.Resource.Schema, &empty)...)
	state, diags := l.Import(empty, item)
	result.Diagnostics.Append(diags...)
	result.Diagnostics.Append(result.Resource.Set(ctx, state)...)
	return result
}

// Prefixed matches names that begin with a filter. Nil for a filter that is not set.
func Prefixed[T any](prefix types.String, name func(T) string) func(T) bool {
	if prefix.IsNull() {
		return nil
	}
	return func(item T) bool { return NameHasPrefix(name(item), prefix.ValueString()) }
}

// AboutLimit ends the description of every list resource.
const AboutLimit = "\n\nA list block without `limit` returns at most 100 results, and Terraform does not report that there are more. Set `limit` to a higher number to get all of them."

// NamePrefix is the filter that all lists have.
func NamePrefix() schema.StringAttribute {
	return schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "Only those whose names begin so. Upper and lower case differ.",
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
}
