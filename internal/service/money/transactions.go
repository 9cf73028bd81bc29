package money

import (
	"context"
	"iter"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*transactionsDataSource)(nil)

// defaultResults is max_results where it does not say.
const defaultResults = 100

// transactionTypes are all the service knows.
var transactionTypes = []string{
	string(rental.TransactionTopup), string(rental.TransactionUsage), string(rental.TransactionBandwidth), string(rental.TransactionRefund),
	string(rental.TransactionPromoGrant), string(rental.TransactionPromoExpire), string(rental.TransactionAdjustment),
	string(rental.TransactionWriteoff), string(rental.TransactionReversal),
}

type transactionsDataSource struct{ tfkit.DataSource }

func newTransactions() datasource.DataSource {
	return &transactionsDataSource{tfkit.DataSource{Name: "transactions"}}
}

type transactionsModel struct {
	Types        types.Set     `tfsdk:"types"`
	InstanceID   types.String  `tfsdk:"instance_id"`
	MaxResults   types.Int64   `tfsdk:"max_results"`
	Transactions []transaction `tfsdk:"transactions"`
}

// transaction is one entry of the ledger.
type transaction struct {
	ID          string       `tfsdk:"id"`
	At          types.String `tfsdk:"at"`
	Type        string       `tfsdk:"type"`
	AmountKop   int64        `tfsdk:"amount_kop"`
	Description string       `tfsdk:"description"`
	InstanceID  *string      `tfsdk:"instance_id"`
}

// Schema implements datasource.DataSource.
func (d *transactionsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The account's ledger, newest entries first: everything that ever changed the balance. Needs the scope `billing:read`.\n\n" +
			"It changes all the time: an output made of it shows a change in every plan while a server runs, for usage is posted again and again.\n\n" +
			"The service cannot filter the ledger, so `types` and `instance_id` are applied to what was read, 200 entries a request, until `max_results` are found: " +
			"where fewer match, the whole ledger is read. To look at one ledger in several ways, read it once without filters and use `for` expressions.",
		Attributes: map[string]schema.Attribute{
			"types": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Only entries of these types, any of `topup`, `usage`, `bandwidth`, `refund`, `promo_grant`, `promo_expire`, `adjustment`, `writeoff` and `reversal`. All by default.",
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.OneOf(transactionTypes...))},
			},
			"instance_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Only entries of this instance, which may be destroyed. All by default.",
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"max_results": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "How many entries to return at most, 100 by default. More than one page is read where needed.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"transactions": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The entries, newest first.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id":          tfkit.ComputedString("Id of the entry."),
					"at":          tfkit.ComputedString("When it happened, RFC 3339 in UTC."),
					"type":        tfkit.ComputedString("What moved the balance: one of the values of `types`, or one that the service has added since."),
					"amount_kop":  tfkit.ComputedInt64("Change of the balance, kopecks: positive is money that came in, negative is money spent."),
					"description": tfkit.ComputedString("What the service says of it, for people."),
					"instance_id": tfkit.ComputedString("The instance it is for. Null where it is for none."),
				}},
			},
		},
	}
}

// Read implements datasource.DataSource.
func (d *transactionsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config transactionsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	wanted := int64(defaultResults)
	if !config.MaxResults.IsNull() {
		wanted = config.MaxResults.ValueInt64()
	}
	match, diags := config.filter(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	options := rental.ListOptions{PageSize: rental.MaxPageSize, Stream: true}
	if match == nil {
		options.PageSize = min(wanted, rental.MaxPageSize)
	}
	ctx, skipped := tfkit.CollectSkipped(ctx)
	found, err := newest(d.Meta.Client.ListTransactions(ctx, options), match, wanted)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, "list transactions", err)
		return
	}
	skipped.Warn(&resp.Diagnostics, "transactions")
	config.Transactions = make([]transaction, len(found))
	for i, t := range found {
		config.Transactions[i] = transaction{
			ID: t.ID, At: tfkit.Time(t.At), Type: string(t.Type), AmountKop: t.AmountKop, Description: t.Description, InstanceID: t.InstanceID,
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}

// filter says which entries are wanted; nil for all.
func (m transactionsModel) filter(ctx context.Context) (func(rental.Transaction) bool, diag.Diagnostics) {
	if m.Types.IsNull() && m.InstanceID.IsNull() {
		return nil, nil
	}
	var wanted []string
	diags := m.Types.ElementsAs(ctx, &wanted, false)
	return func(t rental.Transaction) bool {
		return (m.Types.IsNull() || slices.Contains(wanted, string(t.Type))) &&
			(m.InstanceID.IsNull() || t.InstanceID != nil && *t.InstanceID == m.InstanceID.ValueString())
	}, diags
}

// newest reads a ledger only as far as it takes to find so many entries.
func newest(ledger iter.Seq2[rental.Transaction, error], match func(rental.Transaction) bool, wanted int64) ([]rental.Transaction, error) {
	var found []rental.Transaction
	for t, err := range ledger {
		if err != nil {
			return nil, err
		}
		if match != nil && !match(t) {
			continue
		}
		if found = append(found, t); int64(len(found)) == wanted {
			break
		}
	}
	return found, nil
}
