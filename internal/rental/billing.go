package rental

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// Balance is the balance of the account. All amounts are kopecks.
type Balance struct {
	BalanceKop     int64    `json:"balance_kop"`      // cash plus bonus
	AvailableKop   int64    `json:"available_kop"`    // balance less usage that is not posted yet
	CreditLimitKop int64    `json:"credit_limit_kop"` // credit limit
	BurnKopH       int64    `json:"burn_kop_h"`       // cost of all instances, kopecks per hour
	RunwayHours    *float64 `json:"runway_hours"`     // hours until the balance is used up; nil if the burn rate is 0
	Currency       string   `json:"currency"`         // RUB
}

// maxAmount is the highest valid amount and price in kopecks. Sums of thousands of them do not overflow.
const maxAmount = 1_000_000_000_000

// checkPrices returns an error for an invalid price. A negative price would look cheap, and a huge one would overflow
// sums. A price that is nil is unknown.
func checkPrices(prices ...*int64) error {
	for _, kop := range prices {
		if kop != nil && (*kop < 0 || *kop > maxAmount) {
			return fmt.Errorf("the price of %d kopecks in the response is out of range", *kop)
		}
	}
	return nil
}

func (b Balance) validate() error {
	for _, kop := range []int64{b.BalanceKop, b.AvailableKop, b.CreditLimitKop} {
		if kop < -maxAmount || kop > maxAmount {
			return fmt.Errorf("the amount of %d kopecks in the response is out of range", kop)
		}
	}
	return checkPrices(&b.BurnKopH)
}

// TransactionTypes returns the known reasons for a change of the balance.
func TransactionTypes() []string {
	return []string{
		"topup", "usage", "bandwidth", "refund", "promo_grant", "promo_expire", "adjustment", "writeoff", "reversal",
	}
}

// Transaction is one entry of the ledger.
type Transaction struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Type        string    `json:"type"`       // one of TransactionTypes
	AmountKop   int64     `json:"amount_kop"` // positive is credit, negative is debit
	Description string    `json:"description"`
	InstanceID  *string   `json:"instance_id"` // nil if it belongs to no instance
}

// GetBalance returns the balance of the account. Scope: billing:read.
func (c *Client) GetBalance(ctx context.Context) (Balance, error) {
	return fetch[Balance](ctx, c, request{method: http.MethodGet, path: []string{"balance"}, scope: ScopeBillingRead})
}

// ListTransactions lists the ledger, newest entry first. Scope: billing:read.
func (c *Client) ListTransactions(ctx context.Context, options ListOptions) iter.Seq2[Transaction, error] {
	return list[Transaction](ctx, c, request{path: []string{"transactions"}, scope: ScopeBillingRead}, options)
}
