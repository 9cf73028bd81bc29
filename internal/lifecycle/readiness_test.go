package lifecycle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// A running instance is ready with its SSH address and its web pages. A wait for an address ends.
func TestIsReady(t *testing.T) {
	running := rental.Instance{Status: rental.StatusRunning}
	ssh := running
	ssh.SSH = &rental.SSH{Host: "host", Port: 22, User: "root"}
	open, closed, omitted := ssh, ssh, ssh
	open.URLs = []rental.InstanceURL{{Label: "Jupyter", URL: new("http://host/")}}
	closed.URLs = []rental.InstanceURL{{Label: "Jupyter"}}
	omitted.Omitted.URLs = true
	for name, test := range map[string]struct {
		inst   rental.Instance
		after  int  // poll intervals
		rarely bool // few responses arrive meanwhile
		bare   bool // its template has neither SSH nor web pages
		wanted bool
	}{
		"stopped":                          {rental.Instance{Status: rental.StatusStopped}, 0, false, false, true},
		"running with all addresses":       {open, 0, false, false, true},
		"running without pages":            {ssh, 0, false, false, true},
		"no address yet":                   {running, 1, false, false, false},
		"no address for long":              {running, sshIntervals - 1, false, false, false},
		"an address that never comes":      {running, sshIntervals, false, false, true},
		"an address omitted twice":         {running, sshIntervals, true, false, false},
		"a template without SSH, at first": {running, noSSHIntervals - 1, false, true, false},
		"a template without SSH":           {running, noSSHIntervals, false, true, true},
		"a page still closed":              {closed, urlIntervals - 1, false, false, false},
		"a page that stays closed":         {closed, urlIntervals, false, false, true},
		"pages left out of one response":   {omitted, 0, true, false, false},
		"pages left out of every response": {omitted, 0, false, false, true},
		"a template without pages":         {omitted, 0, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &converger{manager: New(Config{PollInterval: time.Second})}
				c.addresses = &addresses{ssh: !test.bare, urls: !test.bare}
				c.isReady(t.Context(), test.inst)
				if !test.rarely {
					c.observations = minObservations
				}
				time.Sleep(time.Duration(test.after) * time.Second)
				if got := c.isReady(t.Context(), test.inst); got != test.wanted {
					t.Errorf("ready: %t, want %t", got, test.wanted)
				}
			})
		})
	}
}

// After a new start, a running instance may lack its address as long as after the first one.
func TestIsReady_WaitsAgainAfterAStart(t *testing.T) {
	withInstance(t, rental.OnDemand, "stopped", func(t *testing.T, s *service, m *Manager) {
		c := &converger{manager: m, target: Target{State: rental.DesiredRunning}}
		c.addresses = &addresses{ssh: true}
		running := rental.Instance{Status: rental.StatusRunning}
		for range minObservations {
			c.isReady(t.Context(), running)
			time.Sleep(time.Minute)
		}
		if err := c.start(t.Context(), new(s.Inst)); err != nil || c.isReady(t.Context(), running) {
			t.Errorf("%v, or it counts as ready without its address", err)
		}
	})
}
