// Package console serves the web pages of the simulator: the page that approves a device login, and a dashboard of
// instances, money and requests. It holds no state; it calls a [Service].
package console

import "time"

// Service is the backend of the pages. Its methods are safe for concurrent use.
type Service interface {
	// Overview returns the current data of the dashboard.
	Overview() Overview
	// Login returns the pending device login with a user code, or a [*Refusal] if there is none.
	Login(userCode string) (Login, error)
	// Decide approves or denies a pending device login. It returns a [*Refusal] if there is none.
	Decide(userCode string, approve bool) error
}

// Login is a pending device login.
type Login struct {
	// UserCode is the code that the client shows.
	UserCode string
	// ClientName is the name that the client sent. It is not verified.
	ClientName string
}

// Refusal is an error with a message in both languages.
type Refusal struct {
	// Status is the HTTP status of the page.
	Status int
	RU, EN string
}

func (r *Refusal) Error() string { return r.EN }

// Overview is the state of the service at one instant. The dashboard's script reads it as JSON.
type Overview struct {
	Now time.Time `json:"now"`
	// Clock is "real" or "manual". TimeScale is simulated seconds per real second of a real clock.
	Clock     string  `json:"clock"`
	TimeScale float64 `json:"time_scale"`
	// Instances are the newest MaxInstances instances that are not destroyed, newest first. Total is the number of all
	// of them.
	Instances []Instance `json:"instances"`
	Total     int        `json:"total"`
	Balance   Balance    `json:"balance"`
	// History is the balance over time, oldest first, at most MaxHistory points. The last point is the current one.
	History []Point `json:"history"`
	// Ledger are the newest MaxLedger entries, newest first.
	Ledger []Entry `json:"ledger"`
	// Faults is the number of active faults.
	Faults int `json:"faults"`
}

// Limits of an [Overview].
const (
	MaxInstances = 200
	MaxHistory   = 200
	MaxLedger    = 50
)

// Instance is an instance of the dashboard.
type Instance struct {
	ID      string `json:"id"`
	Name    string `json:"name"` // "" without a name
	OfferID string `json:"offer_id"`
	Status  string `json:"status"`
	Desired string `json:"desired_state"`
	// StopReason is "" if the instance was not stopped.
	StopReason string `json:"stop_reason"`
	Type       string `json:"type"`
	// GPU is the count and the model, for example "2 × RTX 4090".
	GPU      string `json:"gpu"`
	Country  string `json:"country"` // "" if unknown
	Template string `json:"template"`
	// RunningKopH and StoppedKopH are kopecks per hour. BurnKopH is the current charge.
	RunningKopH  int64 `json:"running_kop_h"`
	StoppedKopH  int64 `json:"stopped_kop_h"`
	BurnKopH     int64 `json:"burn_kop_h"`
	CostSoFarKop int64 `json:"cost_so_far_kop"`
	// BidKopH is the interruptible price of the bid; 0 for on-demand.
	BidKopH int64 `json:"bid_kop_h"`
	// SSH is the login command; "" until it is known.
	SSH  string `json:"ssh"`
	URLs []Link `json:"urls"`
	// Online reports whether the host is online. FailBoots reports whether boots on it fail.
	Online    bool      `json:"online"`
	FailBoots bool      `json:"fail_boots"`
	CreatedAt time.Time `json:"created_at"`
}

// Link is a web interface of an instance. URL is "" until it is ready.
type Link struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

// Balance is the money of the account, in kopecks.
type Balance struct {
	BalanceKop     int64 `json:"balance_kop"`
	AvailableKop   int64 `json:"available_kop"`
	CreditLimitKop int64 `json:"credit_limit_kop"`
	BurnKopH       int64 `json:"burn_kop_h"`
	// RunwayHours is nil if nothing is billed.
	RunwayHours *float64 `json:"runway_hours"`
}

// Point is the balance at an instant.
type Point struct {
	At         time.Time `json:"at"`
	BalanceKop int64     `json:"balance_kop"`
}

// Entry is an entry of the ledger.
type Entry struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Type        string    `json:"type"`
	AmountKop   int64     `json:"amount_kop"`
	Description string    `json:"description"`
	InstanceID  string    `json:"instance_id"` // "" if no instance is related
}
