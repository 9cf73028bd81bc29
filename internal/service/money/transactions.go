package money

import (
	"context"
	"iter"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*transactionsDataSource)(nil)

// defaultResults is the default of max_results.
const defaultResults = 100

type transactionsDataSource struct{ tfkit.DataSource }

// NewTransactions returns the data source gpurent_transactions.
func NewTransactions() datasource.DataSource {
	return &transactionsDataSource{tfkit.DataSource{Name: "transactions"}}
}

// transactionsModel is the model of gpurent_transactions.
type transactionsModel struct {
	Types        types.Set     `tfsdk:"types"`
	InstanceID   types.String  `tfsdk:"instance_id"`
	MaxResults   types.Int64   `tfsdk:"max_results"`
	Transactions []transaction `tfsdk:"transactions"`
}

// transaction is an entry of the ledger.
type transaction struct {
	ID          string       `tfsdk:"id"`
	At          types.String `tfsdk:"at"`
	Type        string       `tfsdk:"type"`
	AmountKop   int64        `tfsdk:"amount_kop"`
	Description string       `tfsdk:"description"`
	InstanceID  *string      `tfsdk:"instance_id"`
}

// Schema implements datasource.DataSource.
func (d *transactionsDataSource) Schema(
	_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the ledger of the account: the changes of the balance, newest first. Requires the " +
			"scope `billing:read`.\n\nThe ledger grows while an instance is billed, and outputs with it change.\n\nThe " +
			"API cannot filter the ledger. With `types` or `instance_id`, the provider reads 200 entries per request " +
			"until it has `max_results` matches, or to the end of the ledger if there are fewer. To filter one ledger in " +
			"several ways, read it once without filters and use `for` expressions.",
		Attributes: map[string]schema.Attribute{
			"types": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Types of the entries to read. Valid values: `topup`, `usage`, `bandwidth`, `refund`, " +
					"`promo_grant`, `promo_expire`, `adjustment`, `writeoff`, `reversal`. Must not be empty. Defaults to all " +
					"types.",
				Validators: []validator.Set{
					setvalidator.SizeAtLeast(1), tfkit.Elements(tfkit.OneOf(rental.TransactionTypes()...)),
				},
			},
			"instance_id": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Id of an instance, to read only its entries. The instance can be destroyed. Must not " +
					"be empty. Defaults to all entries.",
				Validators: []validator.String{tfkit.NotEmpty()},
			},
			"max_results": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "Maximum number of entries. Must be at least 1. Defaults to `100`.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"transactions": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Entries of the ledger, newest first.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id": tfkit.ComputedString("Id of the entry."),
					"at": tfkit.ComputedString("Time of the entry, RFC 3339 in UTC."),
					"type": tfkit.ComputedString("Type of the entry: a value of `types`, or one that is unknown to this " +
						"version of the provider."),
					"amount_kop": tfkit.ComputedInt64("Change of the balance in kopecks: positive for credits, negative for " +
						"charges."),
					"description": tfkit.ComputedString("Description of the entry by the API."),
					"instance_id": tfkit.ComputedString("Id of the instance. Null if the entry belongs to no instance."),
				}},
			},
		},
	}
}

// Read implements datasource.DataSource.
func (d *transactionsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config transactionsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	wanted := int64(defaultResults)
	if !config.MaxResults.IsNull() {
		wanted = config.MaxResults.ValueInt64()
	}
	var skipped []rental.Skipped
	options := rental.ListOptions{Skipped: &skipped}
	found, err := newest(d.Meta.Client.ListTransactions(ctx, options), config.match, wanted)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, "list transactions", err)
		return
	}
	tfkit.WarnSkipped(&resp.Diagnostics, "transactions", skipped)
	config.Transactions = make([]transaction, len(found))
	for i, t := range found {
		config.Transactions[i] = transaction{
			ID: t.ID, At: tfkit.Time(t.At), Type: t.Type, AmountKop: t.AmountKop, Description: t.Description,
			InstanceID: t.InstanceID,
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}

// match reports whether the filters select an entry.
func (m transactionsModel) match(t rental.Transaction) bool {
	return (m.Types.IsNull() || slices.ContainsFunc(m.Types.Elements(), types.StringValue(t.Type).Equal)) &&
		(m.InstanceID.IsNull() || t.InstanceID != nil && *t.InstanceID == m.InstanceID.ValueString())
}

// newest returns the first entries of a ledger that match, at most limit. It reads no further than necessary.
func newest(
	ledger iter.Seq2[rental.Transaction, error], match func(rental.Transaction) bool, limit int64,
) ([]rental.Transaction, error) {
	var found []rental.Transaction
	for t, err := range ledger {
		if err != nil {
			return nil, err
		}
		if !match(t) {
			continue
		}
		if found = append(found, t); int64(len(found)) == limit {
			break
		}
	}
	return found, nil
}
