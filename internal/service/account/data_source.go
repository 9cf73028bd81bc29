// Package account implements the data source gpurent_account, the profile of the account.
package account

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*accountDataSource)(nil)

type accountDataSource struct{ tfkit.DataSource }

// NewDataSource returns the data source gpurent_account.
func NewDataSource() datasource.DataSource {
	return &accountDataSource{tfkit.DataSource{Name: "account"}}
}

// model is the model of gpurent_account.
type model struct {
	ID             string       `tfsdk:"id"`
	Email          *string      `tfsdk:"email"`
	Name           string       `tfsdk:"name"`
	CreatedAt      types.String `tfsdk:"created_at"`
	TwoFactor      *bool        `tfsdk:"two_factor"`
	EmailVerified  *bool        `tfsdk:"email_verified"`
	TelegramLinked *bool        `tfsdk:"telegram_linked"`
}

// Schema implements datasource.DataSource.
func (d *accountDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the account of the API key. Requires the scope `user:read`.\n\nUse it to check " +
			"that a configuration is applied to the right account, and that its email address is verified, which renting " +
			"requires. The data source `gpurent_balance` reads the balance of the account.",
		Attributes: map[string]schema.Attribute{
			"id":         tfkit.ComputedString("Id of the account."),
			"email":      tfkit.ComputedString("Email address of the account. Null if none is set."),
			"name":       tfkit.ComputedString("Display name of the account."),
			"created_at": tfkit.ComputedString("Time of the registration, RFC 3339 in UTC."),
			"two_factor": tfkit.ComputedBool("Whether two-factor authentication is on. Null if the API omits it."),
			"email_verified": tfkit.ComputedBool("Whether the email address is verified, which renting requires. Null if the " +
				"API omits it."),
			"telegram_linked": tfkit.ComputedBool("Whether a messenger account is linked. Null if the API omits it."),
		},
	}
}

// Read implements datasource.DataSource.
func (d *accountDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	u, err := d.Meta.Client.GetMe(ctx)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, "read the account", err)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, model{
		ID: u.ID, Email: u.Email, Name: u.Name, CreatedAt: tfkit.Time(u.CreatedAt),
		TwoFactor: u.TwoFactor, EmailVerified: u.EmailVerified, TelegramLinked: u.TelegramLinked,
	})...)
}
