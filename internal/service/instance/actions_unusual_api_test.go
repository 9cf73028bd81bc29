package instance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// Actions handle everything that the API document allows: a lagging status, an outbid, failed or destroyed instance, a
// refusal.
func TestActions_UnusualAPI(t *testing.T) {
	// The API accepts a start only for an instance with the status stopped or outbid.
	startsStopped := func(s *rentaltest.Service) int {
		if s.Inst.Status != rental.StatusStopped && s.Inst.Status != rental.StatusOutbid {
			return http.StatusConflict
		}
		return rentaltest.Starts(s)
	}
	stopsAtOnce := func(s *rentaltest.Service) int {
		rentaltest.Is(rental.StatusStopped, rental.DesiredStopped)(&s.Inst)
		return http.StatusOK
	}
	stopsAndThen := func(after time.Duration, do func(*rental.Instance)) func(*rentaltest.Service) int {
		return func(s *rentaltest.Service) int {
			rentaltest.Is(rental.StatusStopping, rental.DesiredStopped)(&s.Inst)
			s.Later(after, do)
			return http.StatusOK
		}
	}
	outbidAgain := rentaltest.OutbidAfter(time.Second, 2*time.Second)
	failed := rentaltest.Is(rental.StatusFailed, rental.DesiredRunning)
	destroyed := rentaltest.Is(rental.StatusDestroyed, rental.DesiredDestroyed)
	const halted = "Instance ins_1 is now stopped"
	for name, test := range map[string]struct {
		newAction   func() action.Action
		start, stop func(*rentaltest.Service) int
		lag         time.Duration
		current     bool // the responses to start and stop do not lag
		sent        string
		want        []string // in the errors
	}{
		"restart": {NewRestart, startsStopped, rentaltest.Stops, 0, false, "stop start", nil},
		"restart, lag": {
			NewRestart, startsStopped, rentaltest.Stops, 25 * time.Second, false, "stop start", nil,
		},
		"restart, reads lag": {NewRestart, startsStopped, stopsAtOnce, 25 * time.Second, true, "stop start", nil},
		"restart, lost stop": {
			NewRestart, startsStopped, rentaltest.Loses(rentaltest.Stops, 503, 0), 25 * time.Second, false, "stop stop start",
			nil,
		},
		"restart, outbid meanwhile": {
			NewRestart, startsStopped, stopsAndThen(time.Second, rentaltest.Is("outbid", "running")), 0, false, "stop start",
			nil,
		},
		"restart, always outbid": {
			NewRestart, outbidAgain, rentaltest.Stops, 0, false, "stop start start start", []string{halted, "was outbid again"},
		},
		"restart, fails": {
			NewRestart, startsStopped, stopsAndThen(time.Second, failed), 0, false, "stop",
			[]string{"Cannot restart", `"failed"`},
		},
		"restart, destroyed meanwhile": {
			NewRestart, startsStopped, stopsAndThen(time.Second, destroyed), 0, false, "stop",
			[]string{"Cannot restart", `"destroyed"`},
		},
		"restart, start refused": {
			NewRestart, rentaltest.Replies(409), rentaltest.Stops, 0, false, "stop start", []string{halted, "Cannot start"},
		},
		"restart, stop refused": {
			NewRestart, startsStopped, rentaltest.Replies(409), 0, false, "stop", []string{"Cannot stop"},
		},
		"stop, lag": {NewStop, nil, rentaltest.Stops, 25 * time.Second, false, "stop", nil},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f *fixture) {
				s := rentaltest.New(rental.Interruptible, rental.StatusRunning, rental.DesiredRunning)
				rentaltest.Is(rental.StatusRunning, rental.DesiredRunning)(&s.Inst)
				s.Lag, s.Current, s.On["start"], s.On["stop"] = test.lag, test.current, test.start, test.stop
				f.intercept = s.RoundTrip
				start := time.Now()
				progress, _, failed := f.invoke(f.Context(), test.newAction(), rentaltest.ID, 0)
				f.expectContains(failed, test.want...)
				if (failed != "") != (test.want != nil) || s.Requests() != test.sent {
					f.Errorf("sent %q, want %q, and failed with: %s", s.Requests(), test.sent, failed)
				}
				if took := time.Since(start); took > 4*time.Minute {
					f.Errorf("it took %s", took)
				}
				if test.want == nil && strings.HasPrefix(name, "restart") {
					f.expectContains(progress[len(progress)-1], "runs: ssh ")
				}
			})
		})
	}
}
