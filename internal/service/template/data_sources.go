package template

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*templatesDataSource)(nil)

type templatesDataSource struct{ tfkit.DataSource }

// NewDataSources returns the data source gpurent_templates.
func NewDataSources() datasource.DataSource {
	return &templatesDataSource{tfkit.DataSource{Name: "templates", Public: true}}
}

// templatesModel is the model of gpurent_templates.
type templatesModel struct {
	Owner     types.String `tfsdk:"owner"`
	Templates []item       `tfsdk:"templates"`
}

// item is a template in gpurent_template and gpurent_templates.
type item struct {
	Slug              string            `tfsdk:"slug"`
	Name              string            `tfsdk:"name"`
	Description       types.String      `tfsdk:"description"`
	Image             string            `tfsdk:"image"`
	LaunchMode        string            `tfsdk:"launch_mode"`
	Ports             []int64           `tfsdk:"ports"`
	Env               map[string]string `tfsdk:"env"`
	Onstart           *string           `tfsdk:"onstart"`
	MinDiskGB         int64             `tfsdk:"min_disk_gb"`
	RecommendedDiskGB int64             `tfsdk:"recommended_disk_gb"`
	Public            bool              `tfsdk:"public"`
	Owner             string            `tfsdk:"owner"`
}

// Schema implements datasource.DataSource.
func (d *templatesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the template catalog and, with an API key, the account's own templates.",
		Attributes: map[string]schema.Attribute{
			"owner": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Owner of the templates. Valid values: `catalog`, `me` (requires an API key). " +
					"Defaults to both.",
				Validators: []validator.String{tfkit.OneOf(string(rental.OwnerCatalog), string(rental.OwnerMe))},
			},
			"templates": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Templates, sorted by `slug`.",
				NestedObject:        schema.NestedAttributeObject{Attributes: templateAttributes()},
			},
		},
	}
}

func templateAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"slug":        tfkit.ComputedString("Slug of the template, as in `template` of an instance."),
		"name":        tfkit.ComputedString("Name of the template."),
		"description": tfkit.ComputedString("Description of the template. Null if there is none."),
		"image":       tfkit.ComputedString("Container image of the template."),
		"launch_mode": tfkit.ComputedString("Launch mode of the container: `ssh`, `jupyter` or `entrypoint`."),
		"ports": schema.SetAttribute{
			Computed: true, ElementType: types.Int64Type, MarkdownDescription: "Container ports of the template.",
		},
		"env": schema.MapAttribute{
			Computed: true, ElementType: types.StringType, MarkdownDescription: "Environment variables of the container.",
		},
		"onstart": tfkit.ComputedString("Command that runs at the start of an instance. Null if there is " +
			"none."),
		"min_disk_gb":         tfkit.ComputedInt64("Minimum disk size of an instance in GB."),
		"recommended_disk_gb": tfkit.ComputedInt64("Recommended disk size of an instance in GB."),
		"public":              tfkit.ComputedBool("Whether the template is visible to all accounts."),
		"owner": tfkit.ComputedString("Owner of the template: `catalog`, or `me` for the account's own " +
			"templates."),
	}
}

// itemFromAPI returns the model of a template.
func itemFromAPI(t rental.Template) item {
	return item{
		Slug: t.Slug, Name: t.Name, Description: tfkit.OptionalString(t.Description), Image: t.Image,
		LaunchMode: string(t.LaunchMode), Ports: tfkit.Unique(t.Ports), Env: t.Env, Onstart: t.OnStart,
		MinDiskGB: t.MinDiskGB, RecommendedDiskGB: t.RecommendedDiskGB, Public: t.Public, Owner: string(t.Owner),
	}
}

// Read implements datasource.DataSource.
func (d *templatesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config templatesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	owner := config.Owner.ValueString()
	// While the key is unknown, own templates are missing from the list.
	if owner == string(rental.OwnerMe) || owner == "" && d.Meta.KeyUnknown {
		if d.RequireKey(&resp.Diagnostics); resp.Diagnostics.HasError() {
			return
		}
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.Templates, "templates", &resp.Diagnostics)
	if listing == nil {
		return
	}
	all := slices.SortedFunc(slices.Values(listing.Items), func(a, b rental.Template) int {
		return cmp.Compare(a.Slug, b.Slug)
	})
	config.Templates = []item{}
	for _, t := range all {
		if owner == "" || string(t.Owner) == owner {
			config.Templates = append(config.Templates, itemFromAPI(t))
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
