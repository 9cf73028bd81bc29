package simulator

import (
	"errors"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// consoleService implements console.Service.
type consoleService struct{ *Simulator }

func (c consoleService) Login(userCode string) (console.Login, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.catchUp()
	d, err := c.engine.pendingLogin(userCode)
	if err != nil {
		return console.Login{}, consoleError(err)
	}
	return console.Login{UserCode: d.UserCode, ClientName: d.ClientName}, nil
}

func (c consoleService) Decide(userCode string, approve bool) error {
	return consoleError(c.DecideDeviceCode(userCode, approve))
}

// consoleError converts an API error.
func consoleError(err error) error {
	if e, ok := errors.AsType[*apiError](err); ok {
		return &console.Refusal{Status: e.status, RU: e.text.ru, EN: e.text.en}
	}
	return err
}

// Overview implements console.Service.
func (c consoleService) Overview() any { return c.Simulator.Overview() }

// Overview is the state of the simulator at one instant, for the dashboard.
type Overview struct {
	Now time.Time `json:"now"`
	// Clock is "real" or "manual". TimeScale is simulated seconds per real second of a real clock.
	Clock     string  `json:"clock"`
	TimeScale float64 `json:"time_scale"`
	// Instances are the newest maxOverviewInstances instances that are not destroyed, newest first. Total is the number
	// of all of them.
	Instances []OverviewInstance `json:"instances"`
	Total     int                `json:"total"`
	Balance   balanceView        `json:"balance"`
	// History is the balance over time, oldest first, at most maxHistory points. The last point is the current one.
	History []balancePoint `json:"history"`
	// Ledger are the newest maxOverviewEntries entries, newest first.
	Ledger []transactionView `json:"ledger"`
	// Faults is the number of active faults.
	Faults int `json:"faults"`
}

// Limits of an [Overview].
const (
	maxOverviewInstances = 200
	maxOverviewEntries   = 50
	maxHistory           = 200
)

// OverviewInstance is an instance as in the API, with its offer and its current charge.
type OverviewInstance struct {
	instanceView
	OfferID string `json:"offer_id"`
	// BidKopH is the interruptible price of the bid; 0 for on-demand. BurnKopH is the current charge.
	BidKopH  int64 `json:"bid_kop_h"`
	BurnKopH int64 `json:"burn_kop_h"`
}

// balancePoint is the balance at an instant.
type balancePoint struct {
	At         time.Time `json:"at"`
	BalanceKop int64     `json:"balance_kop"`
}

// Overview returns the current data of the dashboard.
func (s *Simulator) Overview() Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	e := s.engine
	o := Overview{
		Now: e.Now, Clock: s.config.Clock, TimeScale: s.config.TimeScale, Instances: []OverviewInstance{},
		Total: len(e.active), Balance: e.viewBalance(), History: e.balanceHistory(), Ledger: []transactionView{},
		Faults: s.faults.active(),
	}
	for _, i := range slices.Backward(e.active[max(len(e.active)-maxOverviewInstances, 0):]) {
		o.Instances = append(o.Instances, OverviewInstance{e.viewInstance(i), i.offer.ID, i.BidKopH, i.Meter.Rate})
	}
	for _, entry := range slices.Backward(e.Ledger[max(len(e.Ledger)-maxOverviewEntries, 0):]) {
		o.Ledger = append(o.Ledger, entry.transactionView)
	}
	return o
}

// balanceHistory returns the balance after each ledger entry, evenly thinned out, and the current available balance.
func (e *engine) balanceHistory() []balancePoint {
	const ends = 2 // the first entry and the current balance
	every := max((len(e.Ledger)+maxHistory-ends-1)/(maxHistory-ends), 1)
	var points []balancePoint
	sum := int64(0)
	for n, entry := range e.Ledger {
		sum += entry.AmountKop
		if n%every == 0 {
			points = append(points, balancePoint{entry.At, sum})
		}
	}
	return append(points, balancePoint{e.Now, e.availableKop()})
}
