package simulator_test

import (
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// readLedger books the lines that are new. What was there before must still be there, unchanged, below them.
func (h *history) readLedger(newest []console.Entry) {
	last := h.entries[len(h.entries)-1]
	fresh := slices.IndexFunc(newest, func(e console.Entry) bool { return e.ID == last.ID })
	if fresh < 0 {
		newest = h.ledger(last.ID)
		fresh = len(newest)
	} else if newest[fresh] != last {
		h.rt.Fatalf("a line of the ledger has changed from %+v to %+v", last, newest[fresh])
	}
	for n := range fresh {
		h.book(newest[fresh-1-n])
	}
	if h.adjustKop != 0 {
		h.rt.Fatalf("an adjustment of %d is not in the ledger", h.adjustKop)
	}
	for _, i := range h.fleet {
		if i.trafficMilliKop/1000 != i.trafficKop {
			h.rt.Fatalf("%s caused traffic for %d/1000 kopecks, the ledger says %d", i.ID, i.trafficMilliKop, i.trafficKop)
		}
		if accrued := i.accruedKop(); accrued < 0 || accrued > i.dearest || i.rate == 0 && accrued > 0 {
			h.rt.Fatalf("%s has used %d kopecks that are not posted, at %d an hour: postings are hourly", i.ID, accrued, i.dearest)
		}
	}
}

// line is a line of the ledger, as the API tells it.
type line struct {
	transaction
	Description string
}

func (l *line) entry() console.Entry {
	e := console.Entry{ID: l.ID, At: l.At, Type: l.Type, AmountKop: l.Amount, Description: l.Description}
	if l.InstanceID != nil {
		e.InstanceID = *l.InstanceID
	}
	return e
}

// ledger reads the ledger, newest first, down to the line with an id, or to its end.
func (h *history) ledger(last string) (entries []console.Entry) {
	for path := "/transactions?limit=200"; ; {
		var p page[line]
		h.do("GET", path, nil).want(200).into(&p)
		for _, l := range p.Data {
			if l.ID == last {
				return entries
			}
			entries = append(entries, l.entry())
		}
		if p.NextCursor == nil {
			return entries
		}
		path = "/transactions?limit=200&cursor=" + *p.NextCursor
	}
}

// book takes a new line into the model, if it is right to the kopeck at its instant.
func (h *history) book(e console.Entry) {
	if last := h.entries[len(h.entries)-1]; e.At.After(h.at) || e.At.Before(last.At) {
		h.rt.Fatalf("at %v a line of %v came after one of %v", h.at, e.At, last.At)
	}
	if h.booked[e.ID] {
		h.rt.Fatalf("two lines of the ledger have the id %s", e.ID)
	}
	h.booked[e.ID] = true
	want := int64(0)
	switch i := h.find(e.InstanceID); {
	case e.Type == "adjustment" && e.InstanceID == "":
		want, h.adjustKop = h.adjustKop, 0
	case e.Type == "usage" && i != nil:
		since := int64(h.at.Sub(e.At) / time.Millisecond)
		used := (i.used - i.passed*since) / hourMS
		want, i.postedKop = i.postedKop-used, used
	case e.Type == "bandwidth" && i != nil:
		want, i.trafficKop = i.trafficKop-i.trafficMilliKop/1000, i.trafficMilliKop/1000
	}
	if e.AmountKop != want || want == 0 {
		h.rt.Fatalf("a line of the ledger says %+v, want %d kopecks", e, want)
	}
	h.balanceKop += e.AmountKop
	h.entries = append(h.entries, e)
}

func (f fleet) find(id string) *rented {
	for _, i := range f {
		if i.ID == id {
			return i
		}
	}
	return nil
}
