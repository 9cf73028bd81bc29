package instance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// actionStories are sequences of actions on one service.
var actionStories = map[string]struct {
	run func(*stage)
	// without are the quirks that would break the story.
	without []string
}{
	"a server is stopped and started":   {run: stopAndStart},
	"a restart stops what runs":         {run: restartWhatRuns},
	"what is outbid gets a new bid":     {run: bidAnew},
	"what has ended is refused at plan": {run: refuseTheEnded},
	// It asserts the warning about the balance.
	"money that is missing": {missMoney, []string{"forbidden-balance"}},
	// It reads the balance, and compares it with the price of the offer.
	"a restart looks at the money before it stops": {lookBeforeStopping, []string{"forbidden-balance", "price-moves-on-create", "price-moves-on-start"}},
	// Its caps are 100 kopecks around the price of the offer.
	"a cap holds for starts": {capStarts, []string{"price-moves-on-create", "price-moves-on-start"}},
	// It moves the market itself, by less than a price moves.
	"a cap holds for what is known only afterwards": {capNewBids, []string{"outbid-soon-after-start", "price-moves-on-create", "price-moves-on-start"}},
	// A limit that cannot be checked is an error.
	"a burn rate is capped": {capBurn, []string{"forbidden-balance"}},
	// Its time-out ends before a second attempt.
	"a time-out says where it stands": {timeOut, []string{"gateway-errors", "unknown-enums"}},
	"a refusal that lasts":            {run: lastingRefusal},
	"a key that may only read":        {run: readOnly},
}

func TestAccInstanceActions_stories(t *testing.T) {
	for name, story := range actionStories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story.run(newStage(t, unhurried, acctest.WithoutQuirks(story.without...)))
		})
	}
}

// unhurried lets a server be on its way for some requests.
func unhurried(c *simulator.Config) { c.Boot = time.Minute }

func stopAndStart(s *stage) {
	id := s.rentsAny()
	s.does("stop", id, "stopped", "is running", "is requested to stop", "is stopping", "is stopped: only its disk is billed, 1,21 ₽ per hour")
	s.asked(id, 0, 1)
	s.does("stop", id, "stopped", "is stopped already, so nothing was requested")
	s.asked(id, 0, 0)
	s.does("start", id, "running", "is requested to start", "is starting", "runs: ssh ")
	s.asked(id, 1, 0)
	s.does("start", id, "running", "runs already, so nothing was requested: ssh ")
	s.asked(id, 0, 0)
}

func restartWhatRuns(s *stage) {
	id := s.rentsAny()
	s.does("restart", id, "running", "is requested to stop", "is stopped: only its disk", "is requested to start", "runs: ssh ")
	s.asked(id, 1, 1)
	s.Post("instances/"+id+"/stop", "")
	s.Advance(time.Hour)
	s.asked(id, 0, 1)
	s.does("restart", id, "running", "does not run, so it is only started", "runs: ssh ")
	s.asked(id, 1, 0)
}

func bidAnew(s *stage) {
	offer := s.CheapestOffer("rtx_4090", "interruptible")
	id := s.rents(offer.ID, `,"type":"interruptible"`)
	s.passes(offer, 100)
	s.does("start", id, "running", "is outbid", "is requested to start", "runs: ssh ")
	s.passes(offer, 200)
	s.does("stop", id, "", "is outbid")
	s.does("stop", id, "", "already")
	s.does("restart", id, "running", "only started", "runs: ssh ")
}

func refuseTheEnded(s *stage) {
	id := s.rentsAny()
	s.puts(id, "failed")
	s.refuses("start", id, "", "failed", "Cannot start instance "+id, `status is "failed"`, "the next apply creates another")
	s.asked(id, 0, 0)
}

func missMoney(s *stage) {
	id := s.rentsAny()
	s.does("stop", id, "stopped")
	s.has(100)
	s.refuses("start", id, "", "stopped", "Warning: Insufficient balance for this plan", "Error: ", "Cannot start instance", "Missing: ", "Top up")
	s.has(10_000_000)
	s.does("start", id, "running")
}

func lookBeforeStopping(s *stage) {
	offer := s.CheapestOffer("rtx_4090", "on_demand")
	id := s.rents(offer.ID, "")
	s.has(offer.Price.OnDemandKopH) // for about one hour of the two
	s.refuses("restart", id, "", "running", "was not restarted: insufficient balance", "It was not stopped", "Missing: ")
	s.asked(id, 0, 0)
	// Without the permission to look, only the service knows.
	s.provider = s.ProviderWithKey(s.Secret(`{"name":"blind","scopes":["instances:read","instances:write"]}`))
	s.refuses("restart", id, "", "stopped", "Instance "+id+" is now stopped", "run this action or gpurent_instance_start again", "Cannot restart instance", "Missing: ")
	s.asked(id, 1, 1)
	s.has(10_000_000)
	s.does("restart", id, "running", "only started")
}

func capStarts(s *stage) {
	offer := s.CheapestOffer("rtx_4090", "on_demand")
	id := s.rents(offer.ID, "")
	tight, wide := fmt.Sprintf("max_price_kop_h = %d", offer.Price.OnDemandKopH-100), fmt.Sprintf("max_price_kop_h = %d", offer.Price.OnDemandKopH)
	s.refuses("restart", id, tight, "running", "was not restarted: price above the cap", "It was not stopped", "Raise max_price_kop_h")
	s.asked(id, 0, 0)
	s.does("stop", id, "stopped")
	s.refuses("start", id, tight, "stopped", "was not started: price above the cap", "and max_price_kop_h is")
	s.asked(id, 0, 1)
	if said, ok := s.run("start", id, wide); !ok {
		s.Errorf("a start within the cap fails: %s", said)
	}
}

func capNewBids(s *stage) {
	offer := s.CheapestOffer("rtx_4090", "interruptible")
	id := s.rents(offer.ID, `,"type":"interruptible"`)
	limit := fmt.Sprintf("max_price_kop_h = %d", *offer.Price.InterruptibleKopH+50)
	if said, ok := s.run("restart", id, limit); !ok {
		s.Errorf("a restart within the cap fails: %s", said)
	}
	s.asked(id, 1, 1)
	s.passes(offer, 100)
	s.refuses("start", id, limit, "", "was stopped again: price above the cap", "run the action again later")
	s.asked(id, 1, 1)
	s.Advance(time.Hour)
	s.refuses("restart", id, limit, "", "only started", "was stopped again: price above the cap")
	s.Advance(time.Hour)
	s.expect(id, "stopped", "", nil)
}

func capBurn(s *stage) {
	id := s.rentsAny()
	s.provider = s.Provider("spending = { max_burn_kop_h = 1 }")
	s.does("restart", id, "running") // it burns no more than before
	s.does("stop", id, "stopped")
	s.asked(id, 1, 2)
	s.refuses("start", id, "", "stopped", "Plan exceeds max_burn_kop_h")
	s.refuses("restart", id, "", "stopped", "Plan exceeds max_burn_kop_h")
	s.asked(id, 0, 0)
}

func timeOut(s *stage) {
	id := s.rentsAny()
	s.puts(id, "stopping")
	s.refuses("start", id, `timeout = "100ms"`, "stopping", "is not ready yet", "longer than 100ms (timeout)", "Run the action again", `Last seen: status "stopping"`, "The end of its log")
	s.refuses("stop", id, `timeout = "100ms"`, "stopping", "is not stopped yet")
}

func lastingRefusal(s *stage) {
	id := s.rentsAny()
	s.does("stop", id, "stopped")
	s.asked(id, 0, 1)
	if err := s.AddFault(simulator.Fault{Method: "POST", Path: "/instances/" + id + "/start", Status: 409, Times: 1}); err != nil {
		s.Fatal(err)
	}
	s.refuses("start", id, "", "stopped", "Cannot start instance", "conflict", `Last seen: status "stopped"`)
	s.asked(id, 1, 0)
}

func readOnly(s *stage) {
	id := s.rentsAny()
	s.provider = s.ProviderWithKey(s.Secret(`{"name":"reader","scopes":["instances:read"]}`))
	s.refuses("stop", id, "", "running", "lacks the scope instances:write")
	s.provider = s.ProviderWithKey(s.Secret(`{"name":"stranger","scopes":["user:read"]}`))
	s.refuses("stop", id, "", "running", "could not be read", "lacks the scope instances:read")
}
