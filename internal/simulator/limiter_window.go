package simulator

import "time"

// windowCount gives a caller its limit anew a minute after the first request of the last minute.
type windowCount struct {
	began       time.Time
	used, limit int
}

func beginWindow(limit int, now time.Time) counter { return &windowCount{began: now, limit: limit} }

func (w *windowCount) whole(now time.Time) bool { return !now.Before(w.began.Add(rateWindow)) }

func (w *windowCount) spend(time.Time) bool {
	if w.used >= w.limit {
		return false
	}
	w.used++
	return true
}

func (w *windowCount) quota(now time.Time) quota {
	reset := w.began.Add(rateWindow).Sub(now)
	return quota{limit: w.limit, remaining: w.limit - w.used, reset: reset, retry: reset}
}
