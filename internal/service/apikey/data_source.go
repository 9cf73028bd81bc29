package apikey

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*keyDataSource)(nil)

type keyDataSource struct{ tfkit.DataSource }

// NewDataSource returns the data source gpurent_api_key.
func NewDataSource() datasource.DataSource {
	return &keyDataSource{tfkit.DataSource{Name: "api_key"}}
}

// maxPrefixLength limits the argument prefix to less than half a key, because a whole key would be in the state and in
// messages.
const maxPrefixLength = 20

var lookup = tfkit.Lookup[rental.APIKey]{
	Kind: "API key", Key: "prefix", List: "gpurent_api_keys",
	Describe: func(k rental.APIKey) tfkit.Named {
		note := fmt.Sprintf("%s, created %s", k.ID, tfkit.Time(k.CreatedAt).ValueString())
		return tfkit.Named{Key: k.Prefix, Name: k.Name, Note: note}
	},
}

// Schema implements datasource.DataSource.
func (d *keyDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := keyAttributes()
	lookup.Attributes(attributes,
		"First characters of the key, exactly as in `gpurent_api_keys`. Up to 20 characters.",
		"Name of the key. If more than one key has this name, the error lists their prefixes.",
		stringvalidator.UTF8LengthAtMost(maxPrefixLength))
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an active API key of the account by its name or prefix, without its secret, whether " +
			"or not Terraform manages it. Requires the scope `user:read`.\n\nAn output that contains `last_used_at` of the " +
			"provider's own key can change with every run.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *keyDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	prefix, name := lookup.Config(ctx, req.Config, &resp.Diagnostics)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.APIKeys, "API keys", &resp.Diagnostics)
	if listing == nil {
		return
	}
	if key, ok := lookup.Find(&resp.Diagnostics, prefix, name, "", listing.Items); ok {
		resp.Diagnostics.Append(resp.State.Set(ctx, itemFromAPI(key))...)
	}
}
