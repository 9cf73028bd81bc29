package instance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// An action copes with what the API document allows: a lagging status, an outbid, failed or destroyed server, a refusal.
func TestInstanceActions_UnusualService(t *testing.T) {
	// The service accepts a start only of a server that is really stopped or outbid.
	startsStopped := func(s *scripted) int {
		if s.inst.Status != rental.StatusStopped && s.inst.Status != rental.StatusOutbid {
			return http.StatusConflict
		}
		return starts(s)
	}
	stopsAtOnce := func(s *scripted) int {
		is(rental.StatusStopped, rental.DesiredStopped)(&s.inst)
		return http.StatusOK
	}
	stopsAndThen := func(after time.Duration, do func(*rental.Instance)) func(*scripted) int {
		return func(s *scripted) int {
			is(rental.StatusStopping, rental.DesiredStopped)(&s.inst)
			s.then(after, do)
			return http.StatusOK
		}
	}
	outbidAgain := outbidAfter(time.Second, 2*time.Second)
	failed := is(rental.StatusFailed, rental.DesiredRunning)
	destroyed := is(rental.StatusDestroyed, rental.DesiredDestroyed)
	const halted = "Instance ins_1 is now stopped"
	for name, test := range map[string]struct {
		made        func() action.Action
		start, stop func(*scripted) int
		lag         time.Duration
		current     bool // the answers to start and stop do not lag
		sent        string
		want        []string // in the errors
	}{
		"restart":                      {newRestart, startsStopped, stops, 0, false, "stop start", nil},
		"restart, lag":                 {newRestart, startsStopped, stops, 25 * time.Second, false, "stop start", nil},
		"restart, reads lag":           {newRestart, startsStopped, stopsAtOnce, 25 * time.Second, true, "stop start", nil},
		"restart, lost stop":           {newRestart, startsStopped, loses(stops, 503, 0), 25 * time.Second, false, "stop stop start", nil},
		"restart, outbid meanwhile":    {newRestart, startsStopped, stopsAndThen(time.Second, is("outbid", "running")), 0, false, "stop start", nil},
		"restart, always outbid":       {newRestart, outbidAgain, stops, 0, false, "stop start start start", []string{halted, "was outbid again"}},
		"restart, fails":               {newRestart, startsStopped, stopsAndThen(time.Second, failed), 0, false, "stop", []string{"Cannot restart", `"failed"`}},
		"restart, destroyed meanwhile": {newRestart, startsStopped, stopsAndThen(time.Second, destroyed), 0, false, "stop", []string{"Cannot restart", `"destroyed"`}},
		"restart, start refused":       {newRestart, replies(409), stops, 0, false, "stop start", []string{halted, "Cannot start"}},
		"restart, stop refused":        {newRestart, startsStopped, replies(409), 0, false, "stop", []string{"Cannot stop"}},
		"stop, lag":                    {newStop, nil, stops, 25 * time.Second, false, "stop", nil},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				s := newScripted(rental.Interruptible, rental.StatusRunning, rental.DesiredRunning)
				is(rental.StatusRunning, rental.DesiredRunning)(&s.inst)
				s.lag, s.current, s.on["start"], s.on["stop"] = test.lag, test.current, test.start, test.stop
				b.meddle = s.RoundTrip
				began := time.Now()
				said, _, failed := b.invoke(b.Context(), test.made(), scriptedID, 0)
				b.contains(failed, test.want...)
				if (failed != "") != (test.want != nil) || s.requests() != test.sent {
					b.Errorf("sent %q, want %q, and failed with: %s", s.requests(), test.sent, failed)
				}
				if took := time.Since(began); took > decided {
					b.Errorf("it took %s", took)
				}
				if test.want == nil && strings.HasPrefix(name, "restart") {
					b.contains(said[len(said)-1], "runs: ssh ")
				}
			})
		})
	}
}
