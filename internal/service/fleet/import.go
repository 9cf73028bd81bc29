package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// imported returns the state of a fleet after an import. The arguments are those of the first member, or the defaults.
// The members are read with the fields that the list may omit. An argument that the API does not return is null, and
// the plan adopts the configured value: see model.members and replacingArguments.
func (m model) imported(ctx context.Context, client *rental.Client, id string, members []fleet.Member) model {
	first := client.ReadOmitted(ctx, members[0].Instance)
	members[0].Instance = first
	for i := range members {
		if omitsField(members[i].Instance, first) {
			members[i].Instance = client.ReadOmitted(ctx, members[i].Instance)
		}
		members[i].Request = fleet.RequestOf(members[i].Instance)
	}
	m.ID, m.Name = types.StringValue(id), types.StringValue(nameOf(id))
	m.Size = types.Int64Value(int64(len(members)))
	m.Template = tfkit.OptionalString(first.Template.Slug)
	m.DiskGB = tfkit.OptionalInt64(first.DiskGB)
	m.Type = types.StringValue(string(first.Type))
	m.Image = tfkit.OptionalString(members[0].Request.Image)
	m.DesiredState = types.StringValue(string(rental.DesiredRunning))
	if first.DesiredState == rental.DesiredStopped || first.Status == rental.StatusStopped {
		m.DesiredState = types.StringValue(string(rental.DesiredStopped))
	}
	m.Allocation, m.OnOutbid = types.StringValue(defaultAllocation), types.StringValue(tfinstance.DefaultOnOutbid)
	m.Update = types.StringValue(defaultUpdate)
	m.MaxUnavailable, m.MinReady = types.Int64Value(defaultMaxUnavailable), types.Int64Value(defaultMinReady)
	m.OfferQueries = importedQueries(ctx, members)
	return m.withMembers(members)
}

// ImportState implements resource.ResourceWithImportState. It imports by the id of a fleet, or by its name. Then the
// fleet gets a new id, under whose keys nothing was rented.
func (r *fleetResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	r.Resource.ImportState(ctx, req, resp)
	var id types.String
	resp.Diagnostics.Append(resp.State.GetAttribute(ctx, path.Root("id"), &id)...)
	if resp.Diagnostics.HasError() || lifecycle.IsFleetID(id.ValueString()) {
		return
	}
	if strings.Contains(id.ValueString(), "/") {
		addNotAFleetID(&resp.Diagnostics)
		return
	}
	id = types.StringValue(lifecycle.NewFleetID(id.ValueString()))
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(resp.Identity.SetAttribute(ctx, path.Root("id"), id)...)
}

// nameOf returns the name of the fleet with an id.
func nameOf(id string) string {
	name, _, _ := strings.Cut(id, "/")
	return name
}

// omitsField reports whether an instance lacks a field that the API returns for another member.
func omitsField(inst, other rental.Instance) bool {
	return inst.Template.Slug == "" && other.Template.Slug != "" || inst.DiskGB == 0 && other.DiskGB > 0 ||
		inst.Image == "" && other.Image != "" && other.Template.Slug == rental.CustomTemplate ||
		inst.Omitted.SSH && inst.Status == rental.StatusRunning && other.SSH != nil
}

// importedQueries returns offer_queries that select the GPUs of the members: the API does not return how they were
// rented.
func importedQueries(ctx context.Context, members []fleet.Member) types.List {
	element := types.ObjectType{AttrTypes: tfinstance.QueryType}
	var queries []attr.Value
	var seen []rental.InstanceGPU
	for _, member := range members {
		gpu := rental.InstanceGPU{Slug: member.Instance.GPU.Slug, Count: member.Instance.GPU.Count}
		if slices.Contains(seen, gpu) {
			continue
		}
		seen = append(seen, gpu)
		queries = append(queries, tfinstance.QueryForGPU(ctx, gpu.Slug, gpu.Count))
	}
	return types.ListValueMust(element, queries)
}
