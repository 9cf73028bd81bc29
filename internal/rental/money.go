package rental

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// Balance is the account's money. All amounts are kopecks.
type Balance struct {
	BalanceKop     int64    `json:"balance_kop"`      // cash plus bonus
	AvailableKop   int64    `json:"available_kop"`    // less the usage that is accrued but not yet posted
	CreditLimitKop int64    `json:"credit_limit_kop"` // credit granted
	BurnKopH       int64    `json:"burn_kop_h"`       // of all instances together, kopecks per hour
	RunwayHours    *float64 `json:"runway_hours"`     // hours the money lasts at the present burn; nil when nothing burns
	Currency       string   `json:"currency"`         // RUB
}

// largestAmount is an amount, kopecks, that no account and no price reaches. Sums of thousands of such amounts are right still.
const largestAmount = 1_000_000_000_000

// checkPrices refuses prices that cannot be right: a negative one would look cheap, and an absurd one would overflow sums.
func checkPrices(prices ...int64) error {
	for _, kop := range prices {
		if kop < 0 || kop > largestAmount {
			return fmt.Errorf("the answer's price of %d kopecks is out of range", kop)
		}
	}
	return nil
}

func (b Balance) validate() error {
	for _, kop := range []int64{b.BalanceKop, b.AvailableKop, b.CreditLimitKop} {
		if kop < -largestAmount || kop > largestAmount {
			return fmt.Errorf("the answer's amount of %d kopecks is out of range", kop)
		}
	}
	return checkPrices(b.BurnKopH)
}

// TransactionType says what moved the balance.
type TransactionType string

// The known transaction types.
const (
	TransactionTopup       TransactionType = "topup"
	TransactionUsage       TransactionType = "usage"
	TransactionBandwidth   TransactionType = "bandwidth"
	TransactionRefund      TransactionType = "refund"
	TransactionPromoGrant  TransactionType = "promo_grant"
	TransactionPromoExpire TransactionType = "promo_expire"
	TransactionAdjustment  TransactionType = "adjustment"
	TransactionWriteoff    TransactionType = "writeoff"
	TransactionReversal    TransactionType = "reversal"
)

// Transaction is one entry of the wallet's ledger.
type Transaction struct {
	ID          string          `json:"id"`
	At          time.Time       `json:"at"`
	Type        TransactionType `json:"type"`
	AmountKop   int64           `json:"amount_kop"` // positive is credit, negative is debit
	Description string          `json:"description"`
	InstanceID  *string         `json:"instance_id"` // nil when no instance is concerned
}

// GetBalance returns the account's money. Scope: billing:read.
func (c *Client) GetBalance(ctx context.Context) (Balance, error) {
	return fetch[Balance](ctx, c, request{method: http.MethodGet, path: []string{"balance"}, scope: ScopeBillingRead})
}

// ListTransactions lists the ledger, newest first. Scope: billing:read.
func (c *Client) ListTransactions(ctx context.Context, options ListOptions) iter.Seq2[Transaction, error] {
	return list[Transaction](ctx, c, request{path: []string{"transactions"}, scope: ScopeBillingRead}, options)
}
