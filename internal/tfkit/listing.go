package tfkit

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// maxDisplayName is in characters.
const maxDisplayName = 500

// ListResults are the results of a list resource.
type ListResults[T, M any] struct {
	// Kind is the kind of object in the plural, for errors: "instances".
	Kind Text
	// List lists all objects.
	List func(context.Context, rental.ListOptions) iter.Seq2[T, error]
	// Matches selects the objects to list; nil selects all.
	Matches func(T) bool
	// Display returns the id of an object and its display name.
	Display func(T) (id, name string)
	// Import returns the state of an object as after an import. empty is a model whose attributes are null.
	Import func(empty M, object T) (M, diag.Diagnostics)
}

// Stream sends the results, or an error if the provider configuration is not known. It reads only the pages that the
// limit of the request requires.
func (l *ListResults[T, M]) Stream(
	ctx context.Context, meta *Meta, req list.ListRequest, stream *list.ListResultsStream,
) {
	var diags diag.Diagnostics
	if meta.RequireConfig(&diags); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		found := int64(0)
		var skipped []rental.Skipped
		for item, err := range l.List(ctx, rental.ListOptions{Skipped: &skipped}) {
			if err != nil {
				var failed list.ListResult
				AddAPIError(&failed.Diagnostics, Textf("list %s", l.Kind), err)
				push(failed)
				return
			}
			if l.Matches != nil && !l.Matches(item) {
				continue
			}
			if found++; !push(l.result(ctx, req, item)) || found == req.Limit {
				return
			}
		}
		var warning list.ListResult
		if WarnSkipped(&warning.Diagnostics, l.Kind, skipped); len(skipped) > 0 {
			push(warning)
		}
	}
}

func (l *ListResults[T, M]) result(ctx context.Context, req list.ListRequest, item T) list.ListResult {
	result := req.NewListResult(ctx)
	id, name := l.Display(item)
	result.DisplayName = rental.Printable(name, maxDisplayName)
	result.Diagnostics.Append(Identify(ctx, result.Identity, types.StringValue(id))...)
	if req.IncludeResource {
		var empty M
		readNulls(ctx, &result, &empty)
		state, diags := l.Import(empty, item)
		result.Diagnostics.Append(diags...)
		result.Diagnostics.Append(result.Resource.Set(ctx, state)...)
	}
	return result
}

// readNulls makes all attributes of a model null, with the element types of the schema.
func readNulls(ctx context.Context, result *list.ListResult, model any) {
	object, _ := result.Resource.Schema.Type().TerraformType(ctx).(tftypes.Object)
	values := map[string]tftypes.Value{}
	for name, typ := range object.AttributeTypes {
		values[name] = tftypes.NewValue(typ, nil)
	}
	result.Resource.Raw = tftypes.NewValue(object, values)
	result.Diagnostics.Append(result.Resource.Get(ctx, model)...)
}

// AboutLimit ends the description of every list resource.
const AboutLimit = "\n\nA list block without `limit` returns at most 100 results, and Terraform does not report " +
	"that there are more. To get more, set `limit`."
