package sshkey

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

// NewDataSources returns the data source gpurent_ssh_keys.
func NewDataSources() datasource.DataSource {
	return &keysDataSource{tfkit.DataSource{Name: "ssh_keys"}}
}

// keysModel is the model of gpurent_ssh_keys.
type keysModel struct {
	SSHKeys []item `tfsdk:"ssh_keys"`
}

// item is an SSH key in gpurent_ssh_key and gpurent_ssh_keys.
type item struct {
	ID          string       `tfsdk:"id"`
	Name        string       `tfsdk:"name"`
	Type        string       `tfsdk:"type"`
	Fingerprint string       `tfsdk:"fingerprint"`
	CreatedAt   types.String `tfsdk:"created_at"`
}

// Schema implements datasource.DataSource.
func (d *keysDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the public SSH keys of the account. Requires the scope `user:read`.",
		Attributes: map[string]schema.Attribute{
			"ssh_keys": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "SSH keys, sorted by `id`.",
				NestedObject:        schema.NestedAttributeObject{Attributes: keyAttributes()},
			},
		},
	}
}

func keyAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":          tfkit.ComputedString("Id of the key, as in `ssh_key_ids` of an instance."),
		"name":        tfkit.ComputedString("Name of the key."),
		"type":        tfkit.ComputedString("Type of the key, such as `ssh-ed25519`."),
		"fingerprint": tfkit.ComputedString("SHA256 fingerprint of the key, as in the output of `ssh-keygen -l`."),
		"created_at":  tfkit.ComputedString("Time of the creation, RFC 3339 in UTC."),
	}
}

// itemFromAPI returns the model of a key.
func itemFromAPI(k rental.SSHKey) item {
	return item{
		ID: k.ID, Name: k.Name, Type: k.Type, Fingerprint: canonical(k.Fingerprint), CreatedAt: tfkit.Time(k.CreatedAt),
	}
}

// Read implements datasource.DataSource.
func (d *keysDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.SSHKeys, "SSH keys", &resp.Diagnostics)
	if listing == nil {
		return
	}
	keys := slices.SortedFunc(slices.Values(listing.Items), func(a, b rental.SSHKey) int {
		return cmp.Compare(a.ID, b.ID)
	})
	state := keysModel{SSHKeys: make([]item, len(keys))}
	for i, k := range keys {
		state.SSHKeys[i] = itemFromAPI(k)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
