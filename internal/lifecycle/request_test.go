package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// An unchanged status proves something only after enough time and enough observations.
func TestNextAfterRequest_UnchangedStatus(t *testing.T) {
	lost := &rental.Error{Attempts: 1, Err: errors.New("the connection was cut")}
	conflict := &rental.Error{Attempts: 1, Status: 409, Code: rental.CodeConflict}
	afterLost := *conflict
	afterLost.Attempts, afterLost.InFlightUntil = 2, time.Now().Add(time.Hour)
	const lag, inFlight = 30 * time.Second, rental.DefaultRequestTimeout
	for name, test := range map[string]struct {
		err   error
		after time.Duration
		seen  int
		waits bool
	}{
		"accepted, soon":                {nil, lag, 50, true},
		"accepted, few observations":    {nil, time.Hour, 4, true},
		"accepted, decided":             {nil, lag + 1, 5, false},
		"refused, soon":                 {conflict, lag, 50, true},
		"refused, decided":              {conflict, lag + 1, 5, false},
		"lost, may be in flight":        {lost, lag + inFlight, 50, true},
		"lost, decided":                 {lost, lag + inFlight + 1, 5, false},
		"refused after a lost one":      {&afterLost, lag + inFlight, 50, true},
		"refused after a lost one, end": {&afterLost, lag + inFlight + 1, 5, false},
	} {
		subtestInstance(t, name, rental.Interruptible, "outbid/running", func(t *testing.T, s *service, m *Manager) {
			c := &converger{target: running(OutbidRestart), manager: m}
			c.last = &request{wanted: rental.DesiredRunning, before: s.Inst, at: time.Now(), err: test.err, seen: test.seen}
			time.Sleep(test.after)
			if next, err := c.next(s.Inst); (next == ActionWait && err == nil) != test.waits {
				t.Errorf("next is %s, %v", next, err)
			}
		})
	}
}
