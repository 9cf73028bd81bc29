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

func newDataSource() datasource.DataSource {
	return &accountDataSource{tfkit.DataSource{Name: "account"}}
}

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
		MarkdownDescription: "The account that the API key belongs to. Needs the scope `user:read`.\n\n" +
			"Use it to make sure that a configuration is applied to the right account, and that the account may rent: it needs a verified e-mail address. " +
			"Its money is in `gpurent_balance`.",
		Attributes: map[string]schema.Attribute{
			"id":              tfkit.ComputedString("Id of the account."),
			"email":           tfkit.ComputedString("E-mail address. Null when none is set."),
			"name":            tfkit.ComputedString("Display name."),
			"created_at":      tfkit.ComputedString("When it was registered, RFC 3339 in UTC."),
			"two_factor":      tfkit.ComputedBool("Two-factor authentication is on. Null when the service does not say."),
			"email_verified":  tfkit.ComputedBool("The e-mail address is verified: without that, nothing can be rented. Null when the service does not say."),
			"telegram_linked": tfkit.ComputedBool("A messenger account is linked. Null when the service does not say."),
		},
	}
}

// Read implements datasource.DataSource.
func (d *accountDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if !d.CanRead(&resp.Diagnostics) {
		return
	}
	u, err := d.Meta.Client.GetMe(ctx)
	if err != nil {
		tfkit.AddError(&resp.Diagnostics, "read the account", err)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, model{
		ID: u.ID, Email: u.Email, Name: u.Name, CreatedAt: tfkit.Time(u.CreatedAt),
		TwoFactor: u.TwoFactor, EmailVerified: u.EmailVerified, TelegramLinked: u.TelegramLinked,
	})...)
}
