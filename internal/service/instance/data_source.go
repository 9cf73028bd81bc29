package instance

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*instanceDataSource)(nil)

type instanceDataSource struct{ tfkit.DataSource }

func newDataSource() datasource.DataSource {
	return &instanceDataSource{tfkit.DataSource{Name: "instance"}}
}

var lookup = tfkit.Lookup{Kind: "instance", Key: "id", List: "gpurent_instances"}

// named returns the names of instances for messages.
func named(instances []rental.Instance) []tfkit.Named {
	all := make([]tfkit.Named, len(instances))
	for i, inst := range instances {
		all[i] = tfkit.Named{
			Key:  inst.ID,
			Name: inst.NameString(),
			Note: fmt.Sprintf("%s, created %s", inst.Status, tfkit.Time(inst.CreatedAt).ValueString()),
		}
	}
	return all
}

// Schema implements datasource.DataSource.
func (d *instanceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := instanceAttributes()
	lookup.Attributes(attributes,
		"Id of the instance, which can be destroyed.",
		"Name of the instance. Destroyed instances are ignored. If more than one instance has this name, the error "+
			"lists their ids.")
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an instance of the account by its id or name, whether or not Terraform manages it. " +
			"Requires the scope `instances:read`.\n\nAn output that contains `cost_so_far_kop` changes while the " +
			"instance is billed.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *instanceDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	id, name := lookup.Config(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	var inst rental.Instance
	var ok bool
	if id != "" {
		inst, ok = d.byID(ctx, id, &resp.Diagnostics)
	} else {
		inst, ok = d.byName(ctx, name, &resp.Diagnostics)
	}
	if ok {
		resp.Diagnostics.Append(resp.State.Set(ctx, itemFromAPI(inst))...)
	}
}

func (d *instanceDataSource) byID(
	ctx context.Context,
	id string,
	diags *diag.Diagnostics,
) (inst rental.Instance, ok bool) {
	inst, found, err := d.Meta.Cache.Instances.Find(ctx, id)
	if err != nil {
		tfkit.AddAPIError(diags, tfkit.Textf("read instance %s", id), err)
		return inst, false
	}
	if found {
		return inst, true
	}
	if active, ok := d.active(ctx, diags); ok {
		lookup.NotFound(diags, id, "", named(active))
	}
	return inst, false
}

func (d *instanceDataSource) byName(
	ctx context.Context,
	name string,
	diags *diag.Diagnostics,
) (inst rental.Instance, ok bool) {
	active, ok := d.active(ctx, diags)
	if !ok {
		return inst, false
	}
	index, ok := lookup.ByName(diags, name, "A destroyed instance can be read by its id only.", named(active))
	if !ok {
		return inst, false
	}
	return active[index], true
}

// active returns the instances that a lookup by name searches.
func (d *instanceDataSource) active(ctx context.Context, diags *diag.Diagnostics) ([]rental.Instance, bool) {
	listing, err := d.Meta.Cache.Instances.List(ctx)
	if err != nil {
		tfkit.AddAPIError(diags, "list instances", err)
		return nil, false
	}
	tfkit.WarnSkipped(diags, "instances", listing.Skipped)
	return slices.DeleteFunc(slices.Clone(listing.Items), rental.Instance.Destroyed), true
}
