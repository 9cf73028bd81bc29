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

// NewDataSource returns the data source gpurent_instance.
func NewDataSource() datasource.DataSource {
	return &instanceDataSource{tfkit.DataSource{Name: "instance"}}
}

var lookup = tfkit.Lookup[rental.Instance]{
	Kind: "instance", Key: "id", List: "gpurent_instances",
	Describe: func(inst rental.Instance) tfkit.Named {
		note := fmt.Sprintf("%s, created %s", inst.Status, tfkit.Time(inst.CreatedAt).ValueString())
		return tfkit.Named{Key: inst.ID, Name: inst.NameString(), Note: note}
	},
}

// Schema implements datasource.DataSource.
func (d *instanceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := instanceAttributes()
	lookup.Attributes(attributes,
		"Id of the instance. Destroyed instances can be read, too.",
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
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	if inst, ok := d.find(ctx, id, name, &resp.Diagnostics); ok {
		resp.Diagnostics.Append(resp.State.Set(ctx, itemFromAPI(inst))...)
	}
}

// find returns the instance with an id, which can be destroyed, or the only active one with a name.
func (d *instanceDataSource) find(
	ctx context.Context, id, name string, diags *diag.Diagnostics,
) (inst rental.Instance, ok bool) {
	if id != "" {
		found, ok, err := d.Meta.Cache.Instances.Find(ctx, id)
		if err != nil {
			tfkit.AddAPIError(diags, tfkit.Textf("read instance %s", id), err)
		}
		if ok || err != nil {
			return found, ok
		}
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.Instances, "instances", diags)
	if listing == nil {
		return inst, false
	}
	active := slices.DeleteFunc(slices.Clone(listing.Items), rental.Instance.Destroyed)
	return lookup.Find(diags, id, name, " A destroyed instance can be read by its id only.", active)
}
