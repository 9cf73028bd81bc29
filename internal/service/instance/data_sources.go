package instance

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*instancesDataSource)(nil)

type instancesDataSource struct{ tfkit.DataSource }

// NewDataSources returns the data source gpurent_instances.
func NewDataSources() datasource.DataSource {
	return &instancesDataSource{tfkit.DataSource{Name: "instances"}}
}

type instancesModel struct {
	Status     types.String `tfsdk:"status"`
	NamePrefix types.String `tfsdk:"name_prefix"`
	Instances  []item       `tfsdk:"instances"`
}

// item is an instance in a data source. The resource omits the cost so far, which always changes.
type item struct {
	common
	Name         types.String `tfsdk:"name"`
	DesiredState types.String `tfsdk:"desired_state"`
	Type         types.String `tfsdk:"type"`
	Template     templateRef  `tfsdk:"template"`
	Image        types.String `tfsdk:"image"`
	DiskGB       types.Int64  `tfsdk:"disk_gb"`
	CostSoFarKop int64        `tfsdk:"cost_so_far_kop"`
}

type templateRef struct {
	Slug types.String `tfsdk:"slug"`
	Name types.String `tfsdk:"name"`
}

func itemFromAPI(inst rental.Instance) item {
	m := fromAPI(model{}, inst)
	return item{
		common: m.common, Name: m.Name, DesiredState: m.DesiredState, Type: m.Type,
		Template: templateRef{m.Template, m.TemplateName}, Image: m.Image, DiskGB: m.DiskGB, CostSoFarKop: inst.CostSoFarKop,
	}
}

// Schema implements datasource.DataSource.
func (d *instancesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the instances of the account, whether or not Terraform manages them. Requires the " +
			"scope `instances:read`.\n\nAn output that contains `cost_so_far_kop` changes while an instance is billed.",
		Attributes: map[string]schema.Attribute{
			"status": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Filter by status. Valid values: `active` (all except destroyed instances), `all`. " +
					"Defaults to `active`.",
				Validators: []validator.String{tfkit.OneOf(rental.ListActive, rental.ListAll)},
			},
			"name_prefix": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Prefix of the names of the instances. Case-sensitive. Must not be empty.",
				Validators:          []validator.String{tfkit.NotEmpty()},
			},
			"instances": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Instances, sorted by `id`.",
				NestedObject:        schema.NestedAttributeObject{Attributes: instanceAttributes()},
			},
		},
	}
}

// instanceAttributes are the attributes of an item.
func instanceAttributes() map[string]schema.Attribute {
	attributes := tfinstance.Attributes()
	attributes["name"] = tfkit.ComputedString("Name of the instance. Null if it has none.")
	attributes["desired_state"] = tfkit.ComputedString("Desired state of the instance: `running`, `stopped` or " +
		"`destroyed`.")
	attributes["type"] = tfkit.ComputedString("Rental type of the instance: `on_demand` or `interruptible`.")
	attributes["template"] = schema.SingleNestedAttribute{
		Computed: true, MarkdownDescription: "Template of the instance.",
		Attributes: map[string]schema.Attribute{
			"slug": tfkit.ComputedString("Slug of the template, as in `template` of a `gpurent_instance`."),
			"name": tfkit.ComputedString("Name of the template."),
		},
	}
	attributes["image"] = tfkit.ComputedString("Container image of the instance.")
	attributes["disk_gb"] = tfkit.ComputedInt64("Disk size in GB.")
	attributes["cost_so_far_kop"] = tfkit.ComputedInt64("Charges for the instance so far in kopecks.")
	return attributes
}

// Read implements datasource.DataSource.
func (d *instancesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config instancesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	instances := d.Meta.Cache.Instances
	if config.Status.ValueString() == rental.ListAll {
		instances = d.Meta.Cache.AllInstances
	}
	listing := tfkit.ReadList(ctx, instances, "instances", &resp.Diagnostics)
	if listing == nil {
		return
	}
	all := slices.SortedFunc(slices.Values(listing.Items), func(a, b rental.Instance) int {
		return cmp.Compare(a.ID, b.ID)
	})
	config.Instances = []item{}
	for _, inst := range all {
		if tfkit.NameHasPrefix(inst.NameString(), config.NamePrefix.ValueString()) {
			config.Instances = append(config.Instances, itemFromAPI(inst))
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
