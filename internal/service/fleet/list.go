package fleet

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ list.ListResourceWithConfigure = (*fleetList)(nil)

type fleetList struct{ tfkit.ListResource }

// NewList returns the list resource gpurent_fleet.
func NewList() list.ListResource { return &fleetList{tfkit.ListResource{Name: "fleet"}} }

// listModel is the configuration of a list block.
type listModel struct {
	NamePrefix types.String `tfsdk:"name_prefix"`
}

// ListResourceConfigSchema implements list.ListResource.
func (l *fleetList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the fleets of the account: the instances with names such as `train-0` and `train-1`, " +
			"grouped by the text before the number. Instances with such names that no fleet created are listed, too. " +
			"Requires the scope `instances:read`." + tfkit.AboutLimit,
		Attributes: map[string]schema.Attribute{"name_prefix": tfkit.NamePrefix()},
	}
}

// group are the members of one fleet.
type group struct {
	name    string
	members []fleet.Member
}

// List implements list.ListResource.
func (l *fleetList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var config listModel
	if !l.CanList(ctx, req, stream, &config) {
		return
	}
	results := tfkit.ListResults[group, model]{
		Kind:    "fleets",
		List:    l.groups,
		Matches: func(g group) bool { return tfkit.NameHasPrefix(g.name, config.NamePrefix.ValueString()) },
		Display: display,
		Import: func(empty model, g group) (model, diag.Diagnostics) {
			return empty.imported(ctx, l.Meta.Client, g.name, g.members), nil
		},
	}
	results.Stream(ctx, req, stream)
}

// groups returns the fleets of the account, sorted by name. It omits a group with two instances of the same name, which
// cannot be imported.
func (l *fleetList) groups(ctx context.Context, options rental.ListOptions) iter.Seq2[group, error] {
	return func(yield func(group, error) bool) {
		byFleet := map[string][]rental.Instance{}
		query := rental.ListInstancesQuery{ListOptions: options}
		for inst, err := range l.Meta.Client.ListInstances(ctx, query) {
			if err != nil {
				yield(group{}, err)
				return
			}
			if name, _, ok := fleet.ParseMemberName(inst.NameString()); ok {
				byFleet[name] = append(byFleet[name], inst)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byFleet)) {
			members, err := fleet.ByName(byFleet[name], name)
			if err != nil || len(members) == 0 {
				continue
			}
			if !yield(group{name, members}, nil) {
				return
			}
		}
	}
}

// display returns the id and the display name of a fleet, with its price.
func display(g group) (id, name string) {
	burn := int64(0)
	for _, member := range g.members {
		burn += member.Instance.BurnKopH()
	}
	return g.name, fmt.Sprintf("%s (%s, %d running, %s per hour)", g.name, membersText(len(g.members)),
		fleet.Ready(g.members, rental.DesiredRunning), tfkit.Rubles(burn))
}
