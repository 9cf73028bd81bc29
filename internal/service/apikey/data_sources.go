package apikey

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*keysDataSource)(nil)

type keysDataSource struct{ tfkit.DataSource }

// NewDataSources returns the data source gpurent_api_keys.
func NewDataSources() datasource.DataSource {
	return &keysDataSource{tfkit.DataSource{Name: "api_keys"}}
}

// keysModel is the model of gpurent_api_keys.
type keysModel struct {
	APIKeys []item `tfsdk:"api_keys"`
}

// item is an API key in gpurent_api_key and gpurent_api_keys.
type item struct {
	ID         string       `tfsdk:"id"`
	Name       string       `tfsdk:"name"`
	Prefix     string       `tfsdk:"prefix"`
	Scopes     []string     `tfsdk:"scopes"`
	Source     types.String `tfsdk:"source"`
	LastUsedAt types.String `tfsdk:"last_used_at"`
	CreatedAt  types.String `tfsdk:"created_at"`
	ExpiresAt  types.String `tfsdk:"expires_at"`
}

// Schema implements datasource.DataSource.
func (d *keysDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the active API keys of the account, without their secrets. Requires the scope " +
			"`user:read`.\n\nUse it, for example, to find unused keys. An output that contains `last_used_at` of the " +
			"provider's own key can change with every run.",
		Attributes: map[string]schema.Attribute{
			"api_keys": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "API keys, sorted by `id`.",
				NestedObject:        schema.NestedAttributeObject{Attributes: keyAttributes()},
			},
		},
	}
}

func keyAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"name": tfkit.ComputedString("Name of the key."),
		"scopes": schema.SetAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Scopes of the key, such as `instances:read`.",
		},
		"last_used_at": tfkit.ComputedString("Time of the last use, RFC 3339 in UTC. Null if the key was never used."),
	}
	for name, description := range computedDescriptions {
		attributes[name] = tfkit.ComputedString(description)
	}
	return attributes
}

// itemFromAPI returns the model of a key.
func itemFromAPI(k rental.APIKey) item {
	return item{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: tfkit.Unique(k.Scopes),
		Source:     tfkit.OptionalString(k.Source),
		LastUsedAt: tfkit.TimePointer(k.LastUsedAt), CreatedAt: tfkit.Time(k.CreatedAt),
		ExpiresAt: tfkit.TimePointer(k.ExpiresAt),
	}
}

// Read implements datasource.DataSource.
func (d *keysDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.APIKeys, "API keys", &resp.Diagnostics)
	if listing == nil {
		return
	}
	keys := slices.SortedFunc(slices.Values(listing.Items), func(a, b rental.APIKey) int {
		return cmp.Compare(a.ID, b.ID)
	})
	state := keysModel{APIKeys: make([]item, len(keys))}
	for i, k := range keys {
		state.APIKeys[i] = itemFromAPI(k)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
