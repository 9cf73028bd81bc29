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

var lookup = tfkit.Lookup{Noun: "instance", Key: "id"}

// named is how messages tell of servers.
func named(servers []rental.Instance) []tfkit.Named {
	told := make([]tfkit.Named, len(servers))
	for i, inst := range servers {
		told[i] = tfkit.Named{Key: inst.ID, Name: nameOf(inst), Note: fmt.Sprintf("%s, created %s", inst.Status, tfkit.Time(inst.CreatedAt).ValueString())}
	}
	return told
}

// Schema implements datasource.DataSource.
func (d *instanceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := instanceAttributes()
	lookup.Attributes(attributes,
		"Id of the instance, which may be destroyed. Exactly one of `id` and `name` is needed.",
		"Name. It is looked for among all servers that are neither destroyed nor being destroyed; more than one of this name is an error that tells their ids.")
	resp.Schema = schema.Schema{
		MarkdownDescription: "One server of the account, by its id or its name, whoever rented it. Needs the scope `instances:read`.\n\n" +
			"It changes all the time: an output made of `cost_so_far_kop` shows a change in every plan while the server runs.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *instanceDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	id, name := lookup.Sought(ctx, req.Config, &resp.Diagnostics)
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

func (d *instanceDataSource) byID(ctx context.Context, id string, diags *diag.Diagnostics) (inst rental.Instance, ok bool) {
	inst, found, err := fleetOf(d.Meta).find(ctx, d.Meta, id)
	if err != nil {
		tfkit.AddError(diags, "read instance "+id, err)
		return inst, false
	}
	if found {
		return inst, true
	}
	if there, ok := d.there(ctx, diags); ok {
		lookup.NoneFound(diags, id, "", named(there))
	}
	return inst, false
}

func (d *instanceDataSource) byName(ctx context.Context, name string, diags *diag.Diagnostics) (inst rental.Instance, ok bool) {
	there, ok := d.there(ctx, diags)
	if !ok {
		return inst, false
	}
	index, ok := lookup.ByName(diags, name, "A server that is destroyed is found by its id only.", named(there))
	if !ok {
		return inst, false
	}
	return there[index], true
}

// there are the servers that one can look for by name.
func (d *instanceDataSource) there(ctx context.Context, diags *diag.Diagnostics) ([]rental.Instance, bool) {
	active, err := fleetOf(d.Meta).list(ctx, d.Meta, rental.ListActive)
	if err != nil {
		tfkit.AddError(diags, "list instances", err)
		return nil, false
	}
	return slices.DeleteFunc(active, gone), true
}
