package simulator

import (
	"time"
)

// account is the account of the service. There is only one.
type account struct {
	userView
	Blocked        bool
	MaxInstances   int64
	BalanceKop     int64
	CreditLimitKop int64
}

const (
	initialTopupKop     = 4_500_000
	initialPromoKop     = 500_000
	defaultMaxInstances = 100
)

func (e *engine) createAccount() {
	const day = 24 * time.Hour
	e.Account = account{MaxInstances: defaultMaxInstances, userView: userView{
		ID: e.newID("usr"), Email: "demo@rent.example", Name: "Demo User", CreatedAt: e.Now.Add(-90 * day),
		TwoFactor: true, EmailVerified: true,
	}}
	e.post(e.Now.Add(-90*day), entryPromoGrant, initialPromoKop, "Welcome bonus", nil)
	e.post(e.Now.Add(-30*day), entryTopup, initialTopupKop, "Top-up by card", nil)
}

type userView struct {
	ID             string    `json:"id"`
	Email          string    `json:"email"`
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"created_at"`
	TwoFactor      bool      `json:"two_factor"`
	EmailVerified  bool      `json:"email_verified"`
	TelegramLinked bool      `json:"telegram_linked"`
}

func (c *call) getMe() (any, error) { return c.Account.userView, nil }

func (c *call) getBalance() (any, error) { return c.viewBalance(), nil }

func (c *call) listTransactions() (any, error) {
	return listPage(c, "transactions", parseQuery(c.r.URL), c.Ledger, true, keepAll, viewEntry)
}
