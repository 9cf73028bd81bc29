package simulator

import "time"

// account is whose service this is: there is one.
type account struct {
	id             string
	email, name    string
	createdAt      time.Time
	twoFactor      bool
	emailVerified  bool
	telegramLinked bool
	blocked        bool
	maxInstances   int64
	balanceKop     int64
	creditLimitKop int64
}

const (
	firstTopupKop       = 4_500_000
	firstPromoKop       = 500_000
	defaultMaxInstances = 100
)

func (w *world) openAccount() {
	const day = 24 * time.Hour
	w.account = account{
		id: w.newID("usr"), email: "demo@rent.example", name: "Demo User", createdAt: w.at.Add(-90 * day),
		twoFactor: true, emailVerified: true, maxInstances: defaultMaxInstances,
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
	return userView{a.id, &a.email, a.name, a.createdAt, a.twoFactor, a.emailVerified, a.telegramLinked}
}
