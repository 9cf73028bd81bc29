package instance

import (
	"sync"
	"time"
)

// longestHabit bounds for how long nobody looks at a server because others took that
// long: one that fails early should be noticed.
const longestHabit = time.Minute

// habit is how long something took whenever it was waited for, so that those who
// wait for the next one need not look before. Its zero value and nil know nothing.
type habit struct {
	mu   sync.Mutex
	took time.Duration
}

// usual is a little more than the shortest time it took, as far as somebody looked at
// the right moment; 0 when that is not known.
func (h *habit) usual() time.Duration {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(h.took+h.took/20, longestHabit)
}

func (h *habit) learn(took time.Duration) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.took == 0 || took < h.took {
		h.took = took
	}
}
