package simulator

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// meterUnits is the number of meter units in a kopeck. A meter counts kopecks per hour times milliseconds, so no
// fraction of a kopeck is lost.
const meterUnits = int64(time.Hour / clockResolution)

// meter measures usage. Usage is posted every hour, so that no sum overflows.
type meter struct {
	// Counted is the amount up to Since that is not in the ledger. From then on it grows by Rate every millisecond.
	Counted int64
	Since   time.Time
	Rate    int64 // kopecks per hour
	// PostedKop is the amount in the ledger.
	PostedKop int64
	// PostAt is the next posting; zero if nothing is billed.
	PostAt time.Time
}

// amount returns the amount that is not in the ledger, in meter units.
func (m *meter) amount(now time.Time) int64 {
	if m.Rate == 0 {
		return m.Counted
	}
	return m.Counted + m.Rate*int64(now.Sub(m.Since)/clockResolution)
}

// unpostedKop returns the whole kopecks that are not in the ledger.
func (m *meter) unpostedKop(now time.Time) int64 { return m.amount(now) / meterUnits }

// post subtracts an amount that was added to the ledger.
func (m *meter) post(kop int64) {
	m.Counted -= kop * meterUnits
	m.PostedKop += kop
}

func (m *meter) accumulate(now time.Time) { m.Counted, m.Since = m.amount(now), now }

// setRate changes the rate. Call accumulate first.
func (m *meter) setRate(rate int64, now time.Time) {
	if m.Rate == 0 && rate > 0 {
		m.PostAt = now.Add(time.Hour)
	}
	if rate == 0 {
		m.PostAt = time.Time{}
	}
	m.Rate, m.Since = rate, now
}

const (
	entryTopup      = "topup"
	entryUsage      = "usage"
	entryPromoGrant = "promo_grant"
	entryAdjustment = "adjustment"
)

// entry is an entry of the ledger. The sum of all entries is the balance.
type entry struct {
	Seq int64
	transactionView
}

func (e *entry) sequence() int64 { return e.Seq }

type transactionView struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Type        string    `json:"type"`
	AmountKop   int64     `json:"amount_kop"`
	Description string    `json:"description"`
	InstanceID  *string   `json:"instance_id"`
}

func viewEntry(e *entry) transactionView { return e.transactionView }

// post adds a ledger entry. The balance changes only here.
func (e *engine) post(at time.Time, kind string, amountKop int64, description string, instanceID *string) {
	e.Account.BalanceKop += amountKop
	view := transactionView{e.newID("txn"), at, kind, amountKop, description, instanceID}
	e.Ledger = append(e.Ledger, &entry{e.nextSeq(), view})
}

// postUsage posts the whole kopecks that are not in the ledger. The fraction remains in the meter.
func (e *engine) postUsage(i *instance) {
	due := i.Meter.unpostedKop(e.Now)
	if due == 0 {
		return
	}
	i.Meter.accumulate(e.Now)
	i.Meter.post(due)
	e.unposted.accumulate(e.Now)
	e.unposted.Counted -= due * meterUnits
	e.post(e.Now, entryUsage, -due, fmt.Sprintf("%d x %s, disk %d GB", i.offer.GPU.Count, i.offer.model.name, i.DiskGB),
		&i.ID)
}

// postHourly posts the usage of the last hour.
func (e *engine) postHourly(i *instance) {
	i.Meter.PostAt = i.Meter.PostAt.Add(time.Hour)
	e.postUsage(i)
	e.instanceChanged(i)
}

// costKop is the cost of an instance so far.
func (e *engine) costKop(i *instance) int64 { return i.Meter.PostedKop + i.Meter.unpostedKop(e.Now) }

// remaining returns the funds that are left, credit limit included, in meter units.
func (e *engine) remaining() int64 {
	return (e.Account.BalanceKop+e.Account.CreditLimitKop)*meterUnits - e.unposted.amount(e.Now)
}

// availableKop is the balance minus usage that is not posted. It does not include the credit limit.
func (e *engine) availableKop() int64 {
	available := e.Account.BalanceKop
	for _, i := range e.active {
		available -= i.Meter.unpostedKop(e.Now)
	}
	return available
}

// scheduleFundsExhausted schedules the stop of all instances for the moment when the funds, credit limit included, are
// used up. Call it after each change of funds, rates or live instances.
func (e *engine) scheduleFundsExhausted() {
	var at time.Time
	if left := e.remaining(); slices.ContainsFunc(e.active, (*instance).live) {
		switch burn := e.unposted.Rate; {
		case left <= 0:
			at = e.Now
		case burn > 0 && ceilDiv(left, burn) <= math.MaxInt64/int64(clockResolution):
			at = e.Now.Add(time.Duration(ceilDiv(left, burn)) * clockResolution)
		}
	}
	e.events.schedule(&e.fundsExhausted, at)
}

// stopForLowBalance stops all live instances.
func (e *engine) stopForLowBalance() {
	for _, i := range e.active {
		if !i.live() {
			continue
		}
		// A live instance can always be stopped.
		if err := e.stop(i, stoppedByLowBalance); err != nil {
			panic(err)
		}
	}
}

type balanceView struct {
	BalanceKop     int64    `json:"balance_kop"`
	AvailableKop   int64    `json:"available_kop"`
	CreditLimitKop int64    `json:"credit_limit_kop"`
	BurnKopH       int64    `json:"burn_kop_h"`
	RunwayHours    *float64 `json:"runway_hours"`
	Currency       string   `json:"currency"`
}

func (e *engine) viewBalance() balanceView {
	left, burn := e.remaining(), e.unposted.Rate
	view := balanceView{e.Account.BalanceKop, e.availableKop(), e.Account.CreditLimitKop, burn, nil, "RUB"}
	if burn > 0 {
		hours := float64(max(left, 0)) / float64(burn) / float64(meterUnits)
		view.RunwayHours = new(math.Round(hours*100) / 100)
	}
	return view
}
