package spending

import (
	"sync"
	"time"
)

// ledger adds up what the instances of the account cost. It is safe for concurrent use.
type ledger struct {
	limit int64 // kopecks per hour. Without a limit, nothing is reserved.

	mu       sync.Mutex
	prices   map[string]price // by the id of the instance
	reserved map[*reservation]bool
	other    int64     // what the account costs in addition to the instances that it lists
	readAt   time.Time // when the last reading of the account began
}

// price is what one instance costs.
type price struct {
	kopH      int64
	rented    bool // by this process: the account lists it from some time on
	destroyed bool
	// at is when this process rented, started or destroyed the instance; zero if the account lists it.
	at time.Time
}

// reservation is the price of an instance that is being rented or started.
type reservation struct {
	id   string // of the instance that is started or replaced. A new one that replaces none has no id.
	kopH int64
}

// reserve adds the price of an instance unless the sum exceeds the limit. certain is that of the sum, see uncertain.
func (l *ledger) reserve(now reading, id string, kopH int64) (r *reservation, certain bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.total(id)
	r = &reservation{id, kopH}
	l.reserved[r] = true
	if then := l.total(""); then > l.limit {
		delete(l.reserved, r)
		return nil, !l.uncertain(now, id), AboveBurnLimit{NowKopH: before, ThenKopH: then, LimitKopH: l.limit}
	}
	return r, true, nil
}

// settle ends a reservation. id is that of the instance that is or may be billed. Nothing is billed without an id.
func (l *ledger) settle(r *reservation, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.reserved, r)
	if id != "" {
		// The price is that of another reservation for the same instance if that is higher.
		l.prices[id] = price{kopH: max(r.kopH, l.prices[id].kopH), rented: id != r.id, at: time.Now()}
	}
}

// destroyed records that an instance is not billed any more.
func (l *ledger) destroyed(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prices[id] = price{destroyed: true, at: time.Now()}
}

// without is the sum of all prices without those of the given instances. See uncertain for certain.
func (l *ledger) without(now reading, ids []string) (kopH int64, certain bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kopH = l.total("")
	for _, id := range ids {
		kopH -= l.prices[id].kopH
	}
	return kopH, !l.uncertain(now, "")
}

// total is the sum of all prices and reservations. Only a rise of the price of an instance that is started or replaced
// counts, once for all of its reservations. The instance with the id without, which can be empty, does not count. The
// lock is held.
func (l *ledger) total(without string) int64 {
	sum := l.other
	reserved := map[string]int64{}
	for r := range l.reserved {
		if r.id == "" {
			sum += r.kopH
		} else {
			reserved[r.id] = max(reserved[r.id], r.kopH)
		}
	}
	delete(reserved, without)
	for id, p := range l.prices {
		if id != without {
			sum += max(p.kopH, reserved[id])
			delete(reserved, id)
		}
	}
	for _, kopH := range reserved {
		sum += kopH
	}
	return sum
}

// observe replaces the prices with those of a newer reading. What this process has rented, started or destroyed a
// moment ago stays, because the reading may lack it.
func (l *ledger) observe(now reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.began.Before(l.readAt) {
		return
	}
	prices := map[string]price{}
	for id, kopH := range now.listed {
		prices[id] = price{kopH: kopH}
	}
	for id, own := range l.prices {
		listed, found := prices[id]
		if own.at.IsZero() || now.began.Sub(own.at) > lag || own.rented && found {
			continue
		}
		if !own.destroyed {
			own.kopH = max(own.kopH, listed.kopH)
		}
		prices[id] = own
	}
	l.prices, l.readAt = prices, now.began
	l.other = max(0, now.balance.BurnKopH-now.sum())
}

// uncertain reports whether the sum may be too high for an instance with an id, which can be empty. Another one that is
// being rented may be in the reading already, or not be rented. The reading may lack a change that this process made:
// it can contain an instance that is destroyed, an instance that was started may be stopped again, and one whose rental
// has an unknown outcome may be listed. The lock is held.
func (l *ledger) uncertain(now reading, id string) bool {
	for r := range l.reserved {
		if id == "" || r.id != id {
			return true
		}
	}
	for id, own := range l.prices {
		recent := !own.at.IsZero() && now.began.Sub(own.at) <= lag
		if recent && (l.other > 0 || own.kopH > now.listed[id]) {
			return true
		}
	}
	return false
}
