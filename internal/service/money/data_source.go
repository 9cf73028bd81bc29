// Package money implements the data sources gpurent_balance and gpurent_transactions, and the function format_rub.
package money

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*balanceDataSource)(nil)

type balanceDataSource struct{ tfkit.DataSource }

// NewBalance returns the data source gpurent_balance.
func NewBalance() datasource.DataSource { return &balanceDataSource{tfkit.DataSource{Name: "balance"}} }

// balanceModel is the model of gpurent_balance.
type balanceModel struct {
	BalanceKop     int64    `tfsdk:"balance_kop"`
	AvailableKop   int64    `tfsdk:"available_kop"`
	CreditLimitKop int64    `tfsdk:"credit_limit_kop"`
	BurnKopH       int64    `tfsdk:"burn_kop_h"`
	RunwayHours    *float64 `tfsdk:"runway_hours"`
	Currency       string   `tfsdk:"currency"`
}

// Schema implements datasource.DataSource.
func (d *balanceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the balance and the burn rate of the account. Requires the scope " +
			"`billing:read`.\n\nThe values change while an instance is billed, and change outputs that contain them.",
		Attributes: map[string]schema.Attribute{
			"balance_kop": tfkit.ComputedInt64("Balance in kopecks, including bonuses."),
			"available_kop": tfkit.ComputedInt64("Available balance in kopecks, which includes usage that is accrued but " +
				"not yet posted."),
			"credit_limit_kop": tfkit.ComputedInt64("Credit limit in kopecks."),
			"burn_kop_h":       tfkit.ComputedInt64("Burn rate of all instances in kopecks per hour."),
			"runway_hours": tfkit.ComputedFloat64("Number of hours until the money is used up at the current burn rate. " +
				"Null if the account is idle."),
			"currency": tfkit.ComputedString("Currency of the amounts. Always `RUB`."),
		},
	}
}

// Read implements datasource.DataSource.
func (d *balanceDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	b, err := d.Meta.Client.GetBalance(ctx)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, "read the balance", err)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, balanceModel{
		BalanceKop: b.BalanceKop, AvailableKop: b.AvailableKop, CreditLimitKop: b.CreditLimitKop, BurnKopH: b.BurnKopH,
		RunwayHours: b.RunwayHours, Currency: b.Currency,
	})...)
}
