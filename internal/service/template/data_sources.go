package template

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

var _ datasource.DataSourceWithConfigure = (*templatesDataSource)(nil)

type templatesDataSource struct{ tfkit.DataSource }

func newDataSources() datasource.DataSource {
	return &templatesDataSource{tfkit.DataSource{Name: "templates", Public: true}}
}

type templatesModel struct {
	Owner     types.String `tfsdk:"owner"`
	Templates []item       `tfsdk:"templates"`
}

// item is one template, in the listing or alone.
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
		MarkdownDescription: "The template catalogue and, with an API key, the account's own templates.",
		Attributes: map[string]schema.Attribute{
			"owner": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "`catalog` for the service's own templates only, `me` for the account's (needs an API key). Both by default.",
				Validators:          []validator.String{stringvalidator.OneOf(string(rental.OwnerCatalog), string(rental.OwnerMe))},
			},
			"templates": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The templates, sorted by `slug`: the service defines no order.",
				NestedObject:        schema.NestedAttributeObject{Attributes: templateAttributes()},
			},
		},
	}
}

func templateAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"slug":                tfkit.ComputedString("Identifier, the `template` of an instance."),
		"name":                tfkit.ComputedString("Name."),
		"description":         tfkit.ComputedString("Description. Null for none."),
		"image":               tfkit.ComputedString("Container image."),
		"launch_mode":         tfkit.ComputedString("How the container is launched: `ssh`, `jupyter` or `entrypoint`."),
		"ports":               schema.SetAttribute{Computed: true, ElementType: types.Int64Type, MarkdownDescription: "Container ports."},
		"env":                 schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Environment variables."},
		"onstart":             tfkit.ComputedString("Command run at start. Null for none."),
		"min_disk_gb":         tfkit.ComputedInt64("Smallest disk, GB."),
		"recommended_disk_gb": tfkit.ComputedInt64("Recommended disk, GB."),
		"public":              tfkit.ComputedBool("Visible to everyone."),
		"owner":               tfkit.ComputedString("`catalog` for the service's own, `me` for the account's."),
	}
}

// itemFromAPI is the read side.
func itemFromAPI(t rental.Template) item {
	return item{
		Slug: t.Slug, Name: t.Name, Description: tfkit.OptionalString(t.Description), Image: t.Image, LaunchMode: string(t.LaunchMode), Ports: t.Ports, Env: t.Env,
		Onstart: t.OnStart, MinDiskGB: t.MinDiskGB, RecommendedDiskGB: t.RecommendedDiskGB, Public: t.Public, Owner: string(t.Owner),
	}
}

// Read implements datasource.DataSource.
func (d *templatesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config templatesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	owner := config.Owner.ValueString()
	// Without its key the listing would silently lack the account's own templates.
	wantsOwn := owner == string(rental.OwnerMe) || owner == "" && d.Meta.KeyUnknown
	if wantsOwn && !d.CanReadOwn(&resp.Diagnostics) {
		return
	}
	listing, err := d.Meta.Cache.Templates.List(ctx)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, "list templates", err)
		return
	}
	tfkit.WarnSkipped(&resp.Diagnostics, "templates", listing.Skipped)
	all := slices.SortedFunc(slices.Values(listing.Items), func(a, b rental.Template) int { return strings.Compare(a.Slug, b.Slug) })
	config.Templates = []item{}
	for _, t := range all {
		if owner == "" || string(t.Owner) == owner {
			config.Templates = append(config.Templates, itemFromAPI(t))
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
