package simulator

import (
	"fmt"
	"math"
	"time"
)

// meterHour is what one kopeck an hour adds to a meter in an hour: meters count kopecks-per-hour times milliseconds, so
// that no fraction of a kopeck is ever lost and when a meter is read does not matter.
const meterHour = int64(time.Hour / quantum)

// meter measures what an instance costs.
type meter struct {
	// counted is the amount up to since; from then on it grows by rate every millisecond.
	counted int64
	since   time.Time
	rate    int64 // kopecks per hour
	// postedKop is how much of it stands in the ledger.
	postedKop int64
	// postAt is when usage is posted next; zero while nothing is billed.
	postAt time.Time
}

// at returns the amount measured up to an instant, in kopeck-milliseconds per hour.
func (m *meter) at(now time.Time) int64 {
	if m.rate == 0 {
		return m.counted
	}
	return m.counted + m.rate*int64(now.Sub(m.since)/quantum)
}

// kopecks returns the whole kopecks measured.
func (m *meter) kopecks(now time.Time) int64 { return m.at(now) / meterHour }

func (m *meter) read(now time.Time) { m.counted, m.since = m.at(now), now }

// run goes on at another rate.
func (m *meter) run(rate int64, now time.Time) {
	if m.rate == 0 && rate > 0 {
		m.postAt = now.Add(time.Hour)
	}
	if rate == 0 {
		m.postAt = time.Time{}
	}
	m.rate, m.since = rate, now
}

const (
	entryTopup      = "topup"
	entryUsage      = "usage"
	entryPromoGrant = "promo_grant"
	entryAdjustment = "adjustment"
)

// entry is a line of the wallet's ledger. The entries always sum to the balance.
type entry struct {
	seq         int64
	id          string
	at          time.Time
	kind        string
	amountKop   int64
	description string
	instanceID  *string
}

func (e *entry) number() int64 { return e.seq }

type transactionView struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Type        string    `json:"type"`
	AmountKop   int64     `json:"amount_kop"`
	Description string    `json:"description"`
	InstanceID  *string   `json:"instance_id"`
}

func viewEntry(e *entry) transactionView {
	return transactionView{e.id, e.at, e.kind, e.amountKop, e.description, e.instanceID}
}

// post writes a ledger entry: the only way the balance changes.
func (w *world) post(at time.Time, kind string, amountKop int64, description string, instanceID *string) {
	w.account.balanceKop += amountKop
	w.ledger = append(w.ledger, &entry{w.nextSeq(), w.newID("txn"), at, kind, amountKop, description, instanceID})
}

// postUsage posts what an instance has cost since the last posting; less than a kopeck waits for the next one.
func (w *world) postUsage(i *instance) {
	due := i.meter.kopecks(w.at) - i.meter.postedKop
	if due == 0 {
		return
	}
	i.meter.postedKop += due
	w.post(w.at, entryUsage, -due, fmt.Sprintf("%d x %s, disk %d GB", i.offer.count, i.offer.model.name, i.diskGB), &i.id)
}

// nextPosting is the event source of hourly usage entries.
func (w *world) nextPosting(i *instance, first *event) {
	if i.meter.postAt.IsZero() {
		return
	}
	first.sooner(i.meter.postAt, func() {
		i.meter.postAt = i.meter.postAt.Add(time.Hour)
		w.postUsage(i)
	})
}

// money returns what is left, credit included, in kopeck-milliseconds per hour, and the burn in kopecks per hour.
func (w *world) money() (left, burnKopH int64) {
	left = (w.account.balanceKop + w.account.creditLimitKop) * meterHour
	for _, i := range w.rentals {
		left -= i.meter.at(w.at) - i.meter.postedKop*meterHour
		burnKopH += i.meter.rate
	}
	return left, burnKopH
}

// availableKop is the balance less usage that is accrued but not posted. The credit limit comes on top of it.
func (w *world) availableKop() int64 {
	available := w.account.balanceKop
	for _, i := range w.rentals {
		available -= i.meter.kopecks(w.at) - i.meter.postedKop
	}
	return available
}

// nextExhaustion is the event source of the moment when the money, credit included, is used up: every server stops.
func (w *world) nextExhaustion(first *event) {
	var live []*instance
	for _, i := range w.rentals {
		if i.live() {
			live = append(live, i)
		}
	}
	if len(live) == 0 {
		return
	}
	left, burn := w.money()
	at := w.at
	if left > 0 {
		if burn == 0 || ceilDiv(left, burn) > math.MaxInt64/int64(quantum) {
			return
		}
		at = at.Add(time.Duration(ceilDiv(left, burn)) * quantum)
	}
	first.sooner(at, func() {
		for _, i := range live {
			// A server in the list is live, and a live one can be stopped.
			if err := w.stop(i, stoppedByLowBalance); err != nil {
				panic(err)
			}
		}
	})
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
	left, burn := w.money()
	view := balanceView{w.account.balanceKop, w.availableKop(), w.account.creditLimitKop, burn, nil, "RUB"}
	if burn > 0 {
		hours := float64(max(left, 0)) / float64(burn) / float64(meterHour)
		view.RunwayHours = new(math.Round(hours*100) / 100)
	}
	return view
}
