package sshkey

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*keyDataSource)(nil)

type keyDataSource struct{ tfkit.DataSource }

// NewDataSource returns the data source gpurent_ssh_key.
func NewDataSource() datasource.DataSource {
	return &keyDataSource{tfkit.DataSource{Name: "ssh_key"}}
}

var lookup = tfkit.Lookup[rental.SSHKey]{
	Kind: "SSH key", Key: "fingerprint", List: "gpurent_ssh_keys",
	Describe: func(k rental.SSHKey) tfkit.Named {
		note := fmt.Sprintf("%s, created %s", k.ID, tfkit.Time(k.CreatedAt).ValueString())
		return tfkit.Named{Key: canonical(k.Fingerprint), Name: k.Name, Note: note}
	},
}

// Schema implements datasource.DataSource.
func (d *keyDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := keyAttributes()
	lookup.Attributes(attributes,
		"SHA256 fingerprint of the key, as in the output of `ssh-keygen -l`.",
		"Name of the key. If more than one key has this name, the error lists their fingerprints.")
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a public SSH key of the account by its name or fingerprint, whether or not Terraform " +
			"manages it. Requires the scope `user:read`.\n\nThe function `ssh_fingerprint` returns the fingerprint of a " +
			"public key file.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *keyDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	fingerprint, name := lookup.Config(ctx, req.Config, &resp.Diagnostics)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.SSHKeys, "SSH keys", &resp.Diagnostics)
	if listing == nil {
		return
	}
	if key, ok := lookup.Find(&resp.Diagnostics, canonical(fingerprint), name, "", listing.Items); ok {
		resp.Diagnostics.Append(resp.State.Set(ctx, itemFromAPI(key))...)
	}
}
