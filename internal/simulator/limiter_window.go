package simulator

import (
	"iter"
	"time"
)

// fixedWindow gives each caller its limit anew a minute after the first request of the last minute.
type fixedWindow struct {
	windows map[string]*windowCount
	swept   time.Time
}

type windowCount struct {
	began       time.Time
	used, limit int
}

func (w *windowCount) over(now time.Time) bool { return !now.Before(w.began.Add(rateWindow)) }

func (w *windowCount) quota(now time.Time) quota {
	reset := w.began.Add(rateWindow).Sub(now)
	return quota{limit: w.limit, remaining: max(w.limit-w.used, 0), reset: reset, retry: reset}
}

func newFixedWindow() *fixedWindow { return &fixedWindow{windows: map[string]*windowCount{}} }

func (f *fixedWindow) take(caller string, limit int, now time.Time) quota {
	f.sweep(now)
	w := f.windows[caller]
	if w == nil || w.over(now) {
		w = &windowCount{began: now, limit: limit}
		f.windows[caller] = w
	}
	allowed := w.used < limit
	if allowed {
		w.used++
	}
	q := w.quota(now)
	q.allowed = allowed
	return q
}

func (f *fixedWindow) peek(now time.Time) iter.Seq2[string, quota] {
	return func(yield func(string, quota) bool) {
		for caller, w := range f.windows {
			if !w.over(now) && !yield(caller, w.quota(now)) {
				return
			}
		}
	}
}

// sweep forgets, once a window, the callers that have not come back.
func (f *fixedWindow) sweep(now time.Time) {
	if now.Before(f.swept.Add(rateWindow)) {
		return
	}
	f.swept = now
	for caller, w := range f.windows {
		if w.over(now) {
			delete(f.windows, caller)
		}
	}
}
