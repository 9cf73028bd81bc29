package money

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*balanceDataSource)(nil)

type balanceDataSource struct{ tfkit.DataSource }

func newBalance() datasource.DataSource { return &balanceDataSource{tfkit.DataSource{Name: "balance"}} }

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
		MarkdownDescription: "The account's money and how fast it is spent. Needs the scope `billing:read`.\n\n" +
			"It changes all the time: an output made of it shows a change in every plan while a server runs.",
		Attributes: map[string]schema.Attribute{
			"balance_kop":      tfkit.ComputedInt64("Cash and bonus together, kopecks."),
			"available_kop":    tfkit.ComputedInt64("Available now, with usage that is accrued but not yet posted taken off, kopecks."),
			"credit_limit_kop": tfkit.ComputedInt64("Credit limit, kopecks."),
			"burn_kop_h":       tfkit.ComputedInt64("What all instances cost together now, kopecks per hour."),
			"runway_hours":     tfkit.ComputedFloat64("How long the money lasts at this rate, hours. Null while nothing is spent."),
			"currency":         tfkit.ComputedString("Currency, `RUB`."),
		},
	}
}

// Read implements datasource.DataSource.
func (d *balanceDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if !d.CanRead(&resp.Diagnostics) {
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
