package instance

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ list.ListResourceWithConfigure = (*instanceList)(nil)

type instanceList struct{ tfkit.ListResource }

// NewList returns the list resource gpurent_instance.
func NewList() list.ListResource { return &instanceList{tfkit.ListResource{Name: "instance"}} }

// listModel is the configuration of a list block.
type listModel struct {
	NamePrefix types.String `tfsdk:"name_prefix"`
	Status     types.List   `tfsdk:"status"`
	Template   types.String `tfsdk:"template"`
}

// ListResourceConfigSchema implements list.ListResource.
func (l *instanceList) ListResourceConfigSchema(
	_ context.Context,
	_ list.ListResourceSchemaRequest,
	resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the instances of the account except destroyed ones, whether or not Terraform " +
			"manages them. Requires the scope `instances:read`." + tfkit.AboutLimit,
		Attributes: map[string]schema.Attribute{
			"name_prefix": tfkit.NamePrefix(),
			"status": schema.ListAttribute{
				Optional:    true,
				ElementType: types.StringType,
				MarkdownDescription: "Statuses of the instances to list. Valid values: `creating`, `starting`, `running`, " +
					"`stopping`, `stopped`, `failed`, `outbid`. Must not be empty.",
				Validators: []validator.List{
					tfkit.NotEmpty(),
					listvalidator.ValueStringsAre(tfkit.OneOf(
						string(rental.StatusCreating), string(rental.StatusStarting), string(rental.StatusRunning),
						string(rental.StatusStopping), string(rental.StatusStopped), string(rental.StatusFailed),
						string(rental.StatusOutbid),
					)),
				},
			},
			"template": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Slug of the template of the instances to list. Must not be empty.",
				Validators:          []validator.String{tfkit.NotEmpty()},
			},
		},
	}
}

// List implements list.ListResource.
func (l *instanceList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var config listModel
	if !l.CanList(ctx, req, stream, &config) {
		return
	}
	results := tfkit.ListResults[rental.Instance, model]{
		Kind: "instances",
		List: func(ctx context.Context, options rental.ListOptions) iter.Seq2[rental.Instance, error] {
			return l.Meta.Client.ListInstances(ctx, rental.ListInstancesQuery{ListOptions: options})
		},
		Matches: config.match,
		Display: display,
		Import: func(empty model, inst rental.Instance) (model, diag.Diagnostics) {
			m := fromAPI(empty, l.Meta.Client.ReadOmitted(ctx, inst))
			completeImport(ctx, &m)
			return m, nil
		},
	}
	results.Stream(ctx, req, stream)
}

// match excludes instances that are being destroyed, because they can no longer be imported.
func (m listModel) match(inst rental.Instance) bool {
	return !inst.Destroyed() && tfkit.NameHasPrefix(inst.NameString(), m.NamePrefix.ValueString()) &&
		(m.Status.IsNull() || slices.ContainsFunc(m.Status.Elements(), types.StringValue(string(inst.Status)).Equal)) &&
		(m.Template.IsNull() || inst.Template.Slug == m.Template.ValueString())
}

// display returns the display name of an instance, with its price.
func display(inst rental.Instance) (id, name string) {
	return inst.ID, fmt.Sprintf("%s (%s, %d × %s, %s per hour)",
		cmp.Or(inst.NameString(), inst.ID), inst.Status, inst.GPU.Count, inst.GPU.Name, tfkit.Rubles(inst.BurnKopH()))
}
