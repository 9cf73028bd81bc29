package instance

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ list.ListResourceWithConfigure = (*instanceList)(nil)

const argExcludeFleets = "exclude_fleets"

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
			"manages them. Requires the scope `instances:read`.\n\nThe members of fleets are in the list. To leave out " +
			"those of the fleets `train` and `serve`, write `config { " + argExcludeFleets + " = [\"train\", " +
			"\"serve\"] }` in the list block. That compares names only: it " +
			"leaves out each instance with the name of the fleet, a hyphen and a number without leading zeros, such as " +
			"`train-0`, even if no fleet created it. By its name, `train-1-0` is a member of `train-1`." + tfkit.AboutLimit,
		Attributes: map[string]schema.Attribute{
			argExcludeFleets: schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Names of fleets whose members are left out. A member is an instance with the name of the " +
					"fleet, a hyphen and a number, such as `train-0`, in any letter case.",
			},
		},
	}
}

// List implements list.ListResource.
func (l *instanceList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var exclude []string
	if diags := req.Config.GetAttribute(ctx, path.Root(argExcludeFleets), &exclude); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	results := tfkit.ListResults[rental.Instance, model]{
		Kind: "instances",
		List: func(ctx context.Context, options rental.ListOptions) iter.Seq2[rental.Instance, error] {
			return l.Meta.Client.ListInstances(ctx, rental.ListInstancesQuery{ListOptions: options})
		},
		// An instance that is being destroyed can no longer be imported.
		Matches: func(inst rental.Instance) bool { return !inst.Destroyed() && !isNamedAsMember(inst, exclude) },
		Display: display,
		Import: func(empty model, inst rental.Instance) (model, diag.Diagnostics) {
			m := fromAPI(empty, l.Meta.Client.ReadOmitted(ctx, inst))
			completeImport(ctx, &m)
			return m, nil
		},
	}
	results.Stream(ctx, l.Meta, req, stream)
}

// isNamedAsMember reports whether an instance has the name of a member of a fleet, which proves nothing.
func isNamedAsMember(inst rental.Instance, fleets []string) bool {
	name, _, ok := fleet.ParseMemberName(inst.NameString())
	return ok && slices.ContainsFunc(fleets, func(other string) bool { return tfkit.SameText(name, other) })
}

// display returns the display name of an instance, with its price.
func display(inst rental.Instance) (id, name string) {
	return inst.ID, fmt.Sprintf("%s (%s, %d × %s, %s per hour)",
		cmp.Or(inst.NameString(), inst.ID), inst.Status, inst.GPU.Count, inst.GPU.Name, tfkit.Rubles(inst.BurnKopH()))
}
