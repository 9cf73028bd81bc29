package simulator

import "time"

// account is whose service this is: there is one.
type account struct {
	ID             string
	Email, Name    string
	CreatedAt      time.Time
	TwoFactor      bool
	EmailVerified  bool
	TelegramLinked bool
	Blocked        bool
	MaxInstances   int64
	BalanceKop     int64
	CreditLimitKop int64
}

const (
	firstTopupKop       = 4_500_000
	firstPromoKop       = 500_000
	defaultMaxInstances = 100
)

func (w *world) openAccount() {
	const day = 24 * time.Hour
	w.account = account{
		ID: w.newID("usr"), Email: "demo@rent.example", Name: "Demo User", CreatedAt: w.at.Add(-90 * day),
		TwoFactor: true, EmailVerified: true, MaxInstances: defaultMaxInstances,
	}
	w.post(w.at.Add(-90*day), entryPromoGrant, firstPromoKop, "Welcome bonus", nil)
	w.post(w.at.Add(-30*day), entryTopup, firstTopupKop, "Top-up by card", nil)
}

type userView struct {
	ID             string    `json:"id"`
	Email          *string   `json:"email"`
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"created_at"`
	TwoFactor      bool      `json:"two_factor"`
	EmailVerified  bool      `json:"email_verified"`
	TelegramLinked bool      `json:"telegram_linked"`
}

func (w *world) viewUser() userView {
	a := &w.account
	return userView{a.ID, &a.Email, a.Name, a.CreatedAt, a.TwoFactor, a.EmailVerified, a.TelegramLinked}
}
