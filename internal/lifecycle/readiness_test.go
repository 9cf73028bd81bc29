package lifecycle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// A running instance is ready with its SSH address and its web pages. A wait for an address ends.
func TestIsReady(t *testing.T) {
	open, ssh := "http://host/", &rental.SSH{Host: "host", Port: 22, User: "root"}
	page := func(url *string) []rental.InstanceURL { return []rental.InstanceURL{{Label: "Jupyter", URL: url}} }
	for name, test := range map[string]struct {
		inst   rental.Instance
		after  int  // poll intervals
		rarely bool // few responses arrive meanwhile
		bare   bool // its template has neither SSH nor web pages
		wanted bool
	}{
		"stopped": {rental.Instance{Status: "stopped"}, 0, false, false, true},
		"running with all addresses": {
			rental.Instance{Status: "running", SSH: ssh, URLs: page(&open)}, 0, false, false, true,
		},
		"running without pages":            {rental.Instance{Status: "running", SSH: ssh}, 0, false, false, true},
		"no address yet":                   {rental.Instance{Status: "running"}, 1, false, false, false},
		"no address for long":              {rental.Instance{Status: "running"}, sshIntervals - 1, false, false, false},
		"an address that never comes":      {rental.Instance{Status: "running"}, sshIntervals, false, false, true},
		"an address omitted twice":         {rental.Instance{Status: "running"}, sshIntervals, true, false, false},
		"a template without SSH, at first": {rental.Instance{Status: "running"}, noSSHIntervals - 1, false, true, false},
		"a template without SSH":           {rental.Instance{Status: "running"}, noSSHIntervals, false, true, true},
		"a page still closed": {
			rental.Instance{Status: "running", SSH: ssh, URLs: page(nil)}, urlIntervals - 1, false, false, false,
		},
		"pages left out of one response": {
			rental.Instance{Status: "running", SSH: ssh, Omitted: rental.InstanceOmitted{URLs: true}}, 0, true, false, false,
		},
		"pages left out of every response": {
			rental.Instance{Status: "running", SSH: ssh, Omitted: rental.InstanceOmitted{URLs: true}}, 0, false, false, true,
		},
		"a template without pages": {
			rental.Instance{Status: "running", SSH: ssh, Omitted: rental.InstanceOmitted{URLs: true}}, 0, true, true, true,
		},
		"a page that stays closed": {
			rental.Instance{Status: "running", SSH: ssh, URLs: page(nil)}, urlIntervals, false, false, true,
		},
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
		for range 12 {
			c.isReady(t.Context(), running)
			time.Sleep(c.manager.PollInterval)
		}
		time.Sleep(10 * time.Minute)
		inst := s.Inst
		if err := c.start(t.Context(), &inst); err != nil {
			t.Fatal(err)
		}
		if c.isReady(t.Context(), running) {
			t.Error("it counts as ready without its address")
		}
	})
}
