package instance

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ list.ListResourceWithConfigure = (*instanceList)(nil)

type instanceList struct{ tfkit.Resource }

// NewList returns the list resource gpurent_instance.
func NewList() list.ListResource { return &instanceList{tfkit.Resource{Name: "instance"}} }

// ListResourceConfigSchema implements list.ListResource.
func (l *instanceList) ListResourceConfigSchema(
	_ context.Context,
	_ list.ListResourceSchemaRequest,
	resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the instances of the account except destroyed ones, whether or not Terraform " +
			"manages them. Requires the scope `instances:read`." + tfkit.AboutLimit,
	}
}

// List implements list.ListResource.
func (l *instanceList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	results := tfkit.ListResults[rental.Instance, model]{
		Kind: "instances",
		List: func(ctx context.Context, options rental.ListOptions) iter.Seq2[rental.Instance, error] {
			return l.Meta.Client.ListInstances(ctx, rental.ListInstancesQuery{ListOptions: options})
		},
		// An instance that is being destroyed can no longer be imported.
		Matches: func(inst rental.Instance) bool { return !inst.Destroyed() },
		Display: display,
		Import: func(empty model, inst rental.Instance) (model, diag.Diagnostics) {
			m := fromAPI(empty, l.Meta.Client.ReadOmitted(ctx, inst))
			completeImport(ctx, &m)
			return m, nil
		},
	}
	results.Stream(ctx, l.Meta, req, stream)
}

// display returns the display name of an instance, with its price.
func display(inst rental.Instance) (id, name string) {
	return inst.ID, fmt.Sprintf("%s (%s, %d × %s, %s per hour)",
		cmp.Or(inst.NameString(), inst.ID), inst.Status, inst.GPU.Count, inst.GPU.Name, tfkit.Rubles(inst.BurnKopH()))
}
