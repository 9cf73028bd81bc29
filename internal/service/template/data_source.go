package template

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*templateDataSource)(nil)

type templateDataSource struct{ tfkit.DataSource }

// NewDataSource returns the data source gpurent_template.
func NewDataSource() datasource.DataSource {
	return &templateDataSource{tfkit.DataSource{Name: "template", Public: true}}
}

var lookup = tfkit.Lookup[rental.Template]{
	Kind: "template", Key: "slug", List: "gpurent_templates",
	Describe: func(t rental.Template) tfkit.Named {
		return tfkit.Named{Key: t.Slug, Name: t.Name, Note: "owner " + string(t.Owner)}
	},
}

// Schema implements datasource.DataSource.
func (d *templateDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := templateAttributes()
	lookup.Attributes(attributes,
		"Slug of the template, as in `template` of an instance.",
		"Name of the template. If more than one template has this name, the error lists their slugs.")
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a template by its slug or name, from the catalog or, with an API key, from the " +
			"account.\n\nUse it if a configuration depends on attributes of the template, such as its disk size. To " +
			"create an instance, the slug is sufficient.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *templateDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	slug, name := lookup.Config(ctx, req.Config, &resp.Diagnostics)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	template, ok := d.find(ctx, slug, name, &resp.Diagnostics)
	if ok {
		resp.Diagnostics.Append(resp.State.Set(ctx, itemFromAPI(template))...)
	}
}

func (d *templateDataSource) find(
	ctx context.Context, slug, name string, diags *diag.Diagnostics,
) (template rental.Template, ok bool) {
	if slug != "" {
		found, ok, err := d.Meta.Cache.Templates.Find(ctx, slug)
		if err != nil {
			tfkit.AddAPIError(diags, "read the template", err)
		}
		if ok || err != nil {
			return found, ok
		}
	}
	// While the key is unknown, own templates are missing from the list, so a name may be missing or not unique.
	if d.Meta.KeyUnknown {
		if d.RequireKey(diags); diags.HasError() {
			return template, false
		}
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.Templates, "templates", diags)
	if listing == nil {
		return template, false
	}
	var hint tfkit.Text
	if !d.Meta.Client.Authenticated() {
		hint = " Only the catalog was searched, because no API key is configured."
	}
	return lookup.Find(diags, slug, name, hint, listing.Items)
}
