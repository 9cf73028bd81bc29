package simulator

import (
	"fmt"
	"math"
	"time"
)

// meterHour is what one kopeck an hour adds to a meter in an hour: meters count kopecks-per-hour times milliseconds, so
// that no fraction of a kopeck is ever lost and when a meter is read does not matter.
const meterHour = int64(time.Hour / quantum)

// milli is thousandths in one: megabytes in a gigabyte, thousandths of a kopeck.
const milli = 1000

// meter measures what an instance costs. Usage is posted every hour, so that no sum overflows however long it runs.
type meter struct {
	// Counted is the amount up to Since that is not in the ledger; from then on it grows by Rate every millisecond.
	Counted int64
	Since   time.Time
	Rate    int64 // kopecks per hour
	// PostedKop is what stands in the ledger.
	PostedKop int64
	// PostAt is when usage is posted next; zero while nothing is billed.
	PostAt time.Time
}

// at returns the amount up to an instant that is not in the ledger, in kopeck-milliseconds per hour.
func (m *meter) at(now time.Time) int64 {
	if m.Rate == 0 {
		return m.Counted
	}
	return m.Counted + m.Rate*int64(now.Sub(m.Since)/quantum)
}

// dueKop returns the whole kopecks that are measured and not in the ledger.
func (m *meter) dueKop(now time.Time) int64 { return m.at(now) / meterHour }

// post notes that whole kopecks are in the ledger from now on.
func (m *meter) post(kop int64) {
	m.Counted -= kop * meterHour
	m.PostedKop += kop
}

func (m *meter) read(now time.Time) { m.Counted, m.Since = m.at(now), now }

// run goes on at another rate.
func (m *meter) run(rate int64, now time.Time) {
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
	entryBandwidth  = "bandwidth"
	entryPromoGrant = "promo_grant"
	entryAdjustment = "adjustment"
)

// entry is a line of the wallet's ledger. The entries always sum to the balance.
type entry struct {
	Seq         int64
	ID          string
	At          time.Time
	Kind        string
	AmountKop   int64
	Description string
	InstanceID  *string
}

func (e *entry) number() int64 { return e.Seq }

type transactionView struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Type        string    `json:"type"`
	AmountKop   int64     `json:"amount_kop"`
	Description string    `json:"description"`
	InstanceID  *string   `json:"instance_id"`
}

func viewEntry(e *entry) transactionView {
	return transactionView{e.ID, e.At, e.Kind, e.AmountKop, e.Description, e.InstanceID}
}

// post writes a ledger entry: the only way the balance changes.
func (w *world) post(at time.Time, kind string, amountKop int64, description string, instanceID *string) {
	w.account.BalanceKop += amountKop
	w.ledger = append(w.ledger, &entry{w.nextSeq(), w.newID("txn"), at, kind, amountKop, description, instanceID})
}

// postUsage posts what an instance has cost since the last posting; less than a kopeck waits for the next one.
func (w *world) postUsage(i *instance) {
	due := i.Meter.dueKop(w.at)
	if due == 0 {
		return
	}
	i.Meter.read(w.at)
	i.Meter.post(due)
	w.accrued.read(w.at)
	w.accrued.Counted -= due * meterHour
	w.post(w.at, entryUsage, -due, fmt.Sprintf("%d x %s, disk %d GB", i.offer.count, i.offer.model.name, i.DiskGB), &i.ID)
}

// postHourly posts the usage of another hour.
func (w *world) postHourly(i *instance) {
	i.Meter.PostAt = i.Meter.PostAt.Add(time.Hour)
	w.postUsage(i)
	w.changed(i)
}

// chargeTraffic bills traffic at once. Fractions of a kopeck wait for the next time.
func (w *world) chargeTraffic(i *instance, mb int64) {
	i.TrafficMilliKop += mb * i.TrafficKopGB
	due := i.TrafficMilliKop/milli - i.TrafficPostedKop
	if due == 0 {
		return
	}
	i.TrafficPostedKop += due
	w.post(w.at, entryBandwidth, -due, fmt.Sprintf("Traffic %.3f GB", float64(mb)/milli), &i.ID)
	w.watchMoney()
}

// costKop is what an instance has cost so far: usage and traffic.
func (w *world) costKop(i *instance) int64 {
	return i.Meter.PostedKop + i.Meter.dueKop(w.at) + i.TrafficPostedKop
}

// left is the money there is, credit included, in kopeck-milliseconds per hour.
func (w *world) left() int64 {
	return (w.account.BalanceKop+w.account.CreditLimitKop)*meterHour - w.accrued.at(w.at)
}

// availableKop is the balance less usage that is accrued but not posted. The credit limit comes on top of it.
func (w *world) availableKop() int64 {
	available := w.account.BalanceKop
	for _, i := range w.active {
		available -= i.Meter.dueKop(w.at)
	}
	return available
}

// watchMoney foresees the moment when the money, credit included, is used up. Whatever changes what is there, what is
// burnt, or whether anything runs, calls it.
func (w *world) watchMoney() {
	var at time.Time
	if left := w.left(); w.live > 0 {
		switch burn := w.accrued.Rate; {
		case left <= 0:
			at = w.at
		case burn > 0 && ceilDiv(left, burn) <= math.MaxInt64/int64(quantum):
			at = w.at.Add(time.Duration(ceilDiv(left, burn)) * quantum)
		}
	}
	w.due.set(&w.exhaustion, at)
}

// runDry stops every server: the money is used up.
func (w *world) runDry() {
	for _, i := range w.active {
		if !i.live() {
			continue
		}
		// A live server can be stopped.
		if err := w.stop(i, stoppedByLowBalance); err != nil {
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

func (w *world) viewBalance() balanceView {
	left, burn := w.left(), w.accrued.Rate
	view := balanceView{w.account.BalanceKop, w.availableKop(), w.account.CreditLimitKop, burn, nil, "RUB"}
	if burn > 0 {
		hours := float64(max(left, 0)) / float64(burn) / float64(meterHour)
		view.RunwayHours = new(math.Round(hours*100) / 100)
	}
	return view
}
