package rental

import (
	"context"
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
	return fetch[Balance](ctx, c, request{method: http.MethodGet, path: []string{"balance"}})
}

// ListTransactions lists the ledger, newest first. Scope: billing:read.
func (c *Client) ListTransactions(ctx context.Context, options ListOptions) iter.Seq2[Transaction, error] {
	return list[Transaction](ctx, c, request{path: []string{"transactions"}}, options)
}
