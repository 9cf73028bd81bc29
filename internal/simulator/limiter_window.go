package simulator

import "time"

// windowCounter is a fixed window. It restores the limit one minute after its first request.
type windowCounter struct {
	startedAt   time.Time
	used, limit int
}

func newWindowCounter(limit int, now time.Time) counter {
	return &windowCounter{startedAt: now, limit: limit}
}

func (w *windowCounter) full(now time.Time) bool { return !now.Before(w.startedAt.Add(rateWindow)) }

func (w *windowCounter) take(time.Time) bool {
	if w.used >= w.limit {
		return false
	}
	w.used++
	return true
}

func (w *windowCounter) quota(now time.Time) quota {
	reset := w.startedAt.Add(rateWindow).Sub(now)
	return quota{limit: w.limit, remaining: w.limit - w.used, reset: reset, retry: reset}
}
