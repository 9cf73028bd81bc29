// Package console is the simulator's face in a browser: the page that approves a device login, and a dashboard of the
// fleet, the money and the requests. It holds no state of the service; it asks a [Service].
package console

import "time"

// Service is what the pages show and decide. Its methods are called from any goroutine.
type Service interface {
	// Overview returns what the dashboard shows, as of now.
	Overview() Overview
	// Login returns the device login that waits for a decision under a user code; the error is a [*Refusal] when there
	// is none.
	Login(userCode string) (Login, error)
	// Decide approves or denies a device login; the error is a [*Refusal] when there is none that waits.
	Decide(userCode string, approve bool) error
}

// Login is a program that waits for its key.
type Login struct {
	// UserCode is the code as the program shows it.
	UserCode string
	// ClientName is what the program calls itself; anyone may have chosen it.
	ClientName string
}

// Refusal is an error that the service explains in both languages.
type Refusal struct {
	// Status is the HTTP status of the page.
	Status int
	RU, EN string
}

func (r *Refusal) Error() string { return r.EN }

// Overview is the state of the service at one instant. Its JSON is what the dashboard's script reads.
type Overview struct {
	Now time.Time `json:"now"`
	// Clock is "real" or "manual"; TimeScale is simulated seconds per real second of a real clock.
	Clock     string  `json:"clock"`
	TimeScale float64 `json:"time_scale"`
	// Instances are those that are not destroyed, newest first, at most MaxInstances of them; Total is how many there are.
	Instances []Instance `json:"instances"`
	Total     int        `json:"total"`
	Balance   Balance    `json:"balance"`
	// History is the balance over time, oldest first, the last point as of now; at most MaxHistory points.
	History []Point `json:"history"`
	// Ledger is the newest entries, newest first, at most MaxLedger.
	Ledger []Entry `json:"ledger"`
	// Budgets are the request limits of whoever has called, keys first.
	Budgets []Budget `json:"budgets"`
	// Faults is how many faults are in force.
	Faults int `json:"faults"`
}

// Bounds of what one [Overview] carries.
const (
	MaxInstances = 200
	MaxHistory   = 200
	MaxLedger    = 50
)

// Instance is one server.
type Instance struct {
	ID      string `json:"id"`
	Name    string `json:"name"` // "" when it has none
	OfferID string `json:"offer_id"`
	Status  string `json:"status"`
	Desired string `json:"desired_state"`
	// StopReason is "" while nothing stopped it.
	StopReason string `json:"stop_reason"`
	Type       string `json:"type"`
	// GPU is such as "2 × RTX 4090".
	GPU      string `json:"gpu"`
	Country  string `json:"country"` // "" when unknown
	Template string `json:"template"`
	// RunningKopH and StoppedKopH are kopecks per hour; BurnKopH is what is billed now.
	RunningKopH  int64 `json:"running_kop_h"`
	StoppedKopH  int64 `json:"stopped_kop_h"`
	BurnKopH     int64 `json:"burn_kop_h"`
	CostSoFarKop int64 `json:"cost_so_far_kop"`
	// BidKopH is the interruptible price it was taken at; 0 for on-demand.
	BidKopH int64 `json:"bid_kop_h"`
	// SSH is the command that logs in; "" while there is none.
	SSH  string `json:"ssh"`
	URLs []Link `json:"urls"`
	// Online is whether its host is there; FailBoots whether boots on that host fail.
	Online    bool      `json:"online"`
	FailBoots bool      `json:"fail_boots"`
	CreatedAt time.Time `json:"created_at"`
}

// Link is a web interface of a server; URL is "" while it is not ready.
type Link struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

// Balance is the account's money, kopecks.
type Balance struct {
	BalanceKop     int64 `json:"balance_kop"`
	AvailableKop   int64 `json:"available_kop"`
	CreditLimitKop int64 `json:"credit_limit_kop"`
	BurnKopH       int64 `json:"burn_kop_h"`
	// RunwayHours is nil when nothing burns.
	RunwayHours *float64 `json:"runway_hours"`
}

// Point is the balance at an instant.
type Point struct {
	At         time.Time `json:"at"`
	BalanceKop int64     `json:"balance_kop"`
}

// Entry is a line of the ledger.
type Entry struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Type        string    `json:"type"`
	AmountKop   int64     `json:"amount_kop"`
	Description string    `json:"description"`
	InstanceID  string    `json:"instance_id"` // "" when it is about no server
}

// Budget is what a caller has left of its requests.
type Budget struct {
	// Caller is a key's name, or an address; Keyed tells which.
	Caller    string `json:"caller"`
	Keyed     bool   `json:"keyed"`
	Limit     int    `json:"limit"`
	Remaining int    `json:"remaining"`
	// ResetSeconds is until the full limit is there again.
	ResetSeconds int `json:"reset_seconds"`
}
