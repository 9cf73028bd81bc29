package instance

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*instancesDataSource)(nil)

type instancesDataSource struct{ tfkit.DataSource }

func newDataSources() datasource.DataSource {
	return &instancesDataSource{tfkit.DataSource{Name: "instances"}}
}

type instancesModel struct {
	Status     types.String `tfsdk:"status"`
	NamePrefix types.String `tfsdk:"name_prefix"`
	Instances  []item       `tfsdk:"instances"`
}

// item is one server as a data source shows it: all that the service tells, what it
// has cost so far included, which the resource leaves out because it never rests.
type item struct {
	ID           types.String `tfsdk:"id"`
	Name         types.String `tfsdk:"name"`
	Status       types.String `tfsdk:"status"`
	DesiredState types.String `tfsdk:"desired_state"`
	Type         types.String `tfsdk:"type"`
	GPU          types.Object `tfsdk:"gpu"`
	Template     templateRef  `tfsdk:"template"`
	Image        types.String `tfsdk:"image"`
	DiskGB       types.Int64  `tfsdk:"disk_gb"`
	Country      types.String `tfsdk:"country"`
	Price        types.Object `tfsdk:"price"`
	CostSoFarKop int64        `tfsdk:"cost_so_far_kop"`
	SSH          types.Object `tfsdk:"ssh"`
	URLs         types.List   `tfsdk:"urls"`
	CreatedAt    types.String `tfsdk:"created_at"`
	StartedAt    types.String `tfsdk:"started_at"`
	StopReason   types.String `tfsdk:"stop_reason"`
}

type templateRef struct {
	Slug types.String `tfsdk:"slug"`
	Name types.String `tfsdk:"name"`
}

// itemFromAPI is the read side, which the resource shares.
func itemFromAPI(inst rental.Instance) item {
	m := fromAPI(model{}, inst)
	return item{
		ID: m.ID, Name: m.Name, Status: m.Status, DesiredState: m.DesiredState, Type: m.Type, GPU: m.GPU,
		Template: templateRef{m.Template, m.TemplateName}, Image: m.Image, DiskGB: m.DiskGB, Country: m.Country, Price: m.Price,
		CostSoFarKop: inst.CostSoFarKop, SSH: m.SSH, URLs: m.URLs, CreatedAt: m.CreatedAt, StartedAt: m.StartedAt, StopReason: m.StopReason,
	}
}

// Schema implements datasource.DataSource.
func (d *instancesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The account's servers, whoever rented them: this configuration, another one, or a person in the console. Needs the scope `instances:read`.\n\n" +
			"It changes all the time: an output made of `cost_so_far_kop` shows a change in every plan while a server runs.",
		Attributes: map[string]schema.Attribute{
			"status": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "`active` (default) for all that are not destroyed, or `all` for those of the past as well. An account with more than 20,000 servers of this kind is an error.",
				Validators:          []validator.String{stringvalidator.OneOf(rental.ListActive, rental.ListAll)},
			},
			"name_prefix": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Only servers whose name begins with this; upper and lower case differ. One without a name never does.",
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"instances": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The servers, sorted by `id`: the service defines no order.",
				NestedObject:        schema.NestedAttributeObject{Attributes: instanceAttributes()},
			},
		},
	}
}

// instanceAttributes are those of an item.
func instanceAttributes() map[string]schema.Attribute {
	attributes := facts()
	attributes["name"] = tfkit.ComputedString("Name. Null for none.")
	attributes["desired_state"] = tfkit.ComputedString("Where it is heading: `running`, `stopped` or `destroyed`.")
	attributes["type"] = tfkit.ComputedString("`on_demand` or `interruptible`.")
	attributes["template"] = schema.SingleNestedAttribute{
		Computed: true, MarkdownDescription: "The template it was made from.",
		Attributes: map[string]schema.Attribute{
			"slug": tfkit.ComputedString("Identifier, the `template` of an instance."),
			"name": tfkit.ComputedString("Name."),
		},
	}
	attributes["image"] = tfkit.ComputedString("Container image.")
	attributes["disk_gb"] = tfkit.ComputedInt64("Disk, GB.")
	attributes["cost_so_far_kop"] = tfkit.ComputedInt64("What it has cost so far, usage and traffic together, kopecks.")
	return attributes
}

// Read implements datasource.DataSource.
func (d *instancesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config instancesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	status := rental.ListActive
	if !config.Status.IsNull() {
		status = config.Status.ValueString()
	}
	ctx, skipped := tfkit.CollectSkipped(ctx)
	all, err := fleetOf(d.Meta).list(ctx, d.Meta, status)
	if err != nil {
		tfkit.AddError(&resp.Diagnostics, "list instances", err)
		return
	}
	skipped.Warn(&resp.Diagnostics, "instances")
	slices.SortFunc(all, func(a, b rental.Instance) int { return strings.Compare(a.ID, b.ID) })
	config.Instances = []item{}
	for _, inst := range all {
		if tfkit.NameHasPrefix(nameOf(inst), config.NamePrefix.ValueString()) {
			config.Instances = append(config.Instances, itemFromAPI(inst))
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
