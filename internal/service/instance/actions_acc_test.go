package instance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// actionScenarios are sequences of actions against one simulator.
var actionScenarios = map[string]struct {
	run func(*actionTest)
	// without lists the quirks that would break the scenario.
	without []string
}{
	"a server is stopped and started":                 {run: testStopAndStart},
	"a restart stops a running instance":              {run: testRestart},
	"a start of an outbid instance places a new bid":  {run: testNewBid},
	"a plan fails for a destroyed or failed instance": {run: testFailedInstance},
	// It asserts the warning about the balance.
	"insufficient balance": {testInsufficientBalance, []string{"forbidden-balance"}},
	// It reads the balance, and compares it with the price of the offer.
	"a restart checks the balance before the stop": {
		testRestartChecksBalance,
		[]string{"forbidden-balance", "price-moves-on-create", "price-moves-on-start"},
	},
	// Its caps are 100 kopecks around the price of the offer.
	"a cap applies to starts": {testPriceCap, []string{"price-moves-on-create", "price-moves-on-start"}},
	// It changes prices by less than the market-moves quirk does.
	"a cap applies to the price in the response": {
		testPriceCapOfBid,
		[]string{"outbid-soon-after-start", "price-moves-on-create", "price-moves-on-start"},
	},
	// A limit that cannot be checked is an error.
	"a burn rate is capped": {testBurnLimit, []string{"forbidden-balance"}},
	// Its time-out ends before a second attempt.
	"a timeout reports the status": {testTimeout, []string{"gateway-errors", "unknown-enums"}},
	"a refusal that lasts":         {run: testConflict},
	"a key that may only read":     {run: testMissingScope},
}

func TestAccInstanceActions_scenarios(t *testing.T) {
	for name, scenario := range actionScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.run(newActionTest(t, bootInOneMinute, acctest.WithoutQuirks(scenario.without...)))
		})
	}
}

// bootInOneMinute keeps a new instance in its transitional statuses for several requests.
func bootInOneMinute(c *simulator.Config) { c.Boot = time.Minute }

func testStopAndStart(s *actionTest) {
	id := s.createAny()
	s.succeeds(
		"stop",
		id,
		"stopped",
		"is running",
		"is requested to stop",
		"is stopping",
		"is stopped: only its disk is billed, 1,21 ₽ per hour",
	)
	s.expectRequests(id, 0, 1)
	s.succeeds("stop", id, "stopped", "is stopped already, so nothing was requested")
	s.expectRequests(id, 0, 0)
	s.succeeds("start", id, "running", "is requested to start", "is starting", "runs: ssh ")
	s.expectRequests(id, 1, 0)
	s.succeeds("start", id, "running", "runs already, so nothing was requested: ssh ")
	s.expectRequests(id, 0, 0)
}

func testRestart(s *actionTest) {
	id := s.createAny()
	s.succeeds(
		"restart",
		id,
		"running",
		"is requested to stop",
		"is stopped: only its disk",
		"is requested to start",
		"runs: ssh ",
	)
	s.expectRequests(id, 1, 1)
	s.Post("instances/"+id+"/stop", "")
	s.Advance(time.Hour)
	s.expectRequests(id, 0, 1)
	s.succeeds("restart", id, "running", "does not run, so it is only started", "runs: ssh ")
	s.expectRequests(id, 1, 0)
}

func testNewBid(s *actionTest) {
	offer := s.CheapestOffer("rtx_4090", "interruptible")
	id := s.create(offer.ID, `,"type":"interruptible"`)
	s.raiseBid(offer, 100)
	s.succeeds("start", id, "running", "is outbid", "is requested to start", "runs: ssh ")
	s.raiseBid(offer, 200)
	s.succeeds("stop", id, "", "is outbid")
	s.succeeds("stop", id, "", "already")
	s.succeeds("restart", id, "running", "only started", "runs: ssh ")
}

func testFailedInstance(s *actionTest) {
	id := s.createAny()
	s.setStatus(id, "failed")
	s.fails("start", id, "", "failed", "Cannot start instance "+id, `status is "failed"`, "the next apply creates another")
	s.expectRequests(id, 0, 0)
}

func testInsufficientBalance(s *actionTest) {
	id := s.createAny()
	s.succeeds("stop", id, "stopped")
	s.setBalance(100)
	s.fails(
		"start",
		id,
		"",
		"stopped",
		"Warning: Insufficient balance for this plan",
		"Error: ",
		"Cannot start instance",
		"Missing: ",
		"Top up",
	)
	s.setBalance(10_000_000)
	s.succeeds("start", id, "running")
}

func testRestartChecksBalance(s *actionTest) {
	offer := s.CheapestOffer("rtx_4090", "on_demand")
	id := s.create(offer.ID, "")
	s.setBalance(offer.Price.OnDemandKopH) // for about one hour of the two
	s.fails("restart", id, "", "running", "Insufficient balance", "The instance was not stopped", "Missing: ")
	s.expectRequests(id, 0, 0)
	// Without the permission to read instances, only the API can refuse.
	s.provider = s.ProviderWithKey(s.Secret(`{"name":"blind","scopes":["instances:read","instances:write"]}`))
	s.fails(
		"restart",
		id,
		"",
		"stopped",
		"Instance "+id+" is now stopped",
		"run this action or gpurent_instance_start again",
		"Cannot restart instance",
		"Missing: ",
	)
	s.expectRequests(id, 1, 1)
	s.setBalance(10_000_000)
	s.succeeds("restart", id, "running", "only started")
}

func testPriceCap(s *actionTest) {
	offer := s.CheapestOffer("rtx_4090", "on_demand")
	id := s.create(offer.ID, "")
	tooLow, enough := fmt.Sprintf(
		"max_price_kop_h = %d",
		offer.Price.OnDemandKopH-100,
	), fmt.Sprintf(
		"max_price_kop_h = %d",
		offer.Price.OnDemandKopH,
	)
	s.fails(
		"restart",
		id,
		tooLow,
		"running",
		"costs more than a limit allows",
		"It was not stopped",
		"Raise max_price_kop_h",
	)
	s.expectRequests(id, 0, 0)
	s.succeeds("stop", id, "stopped")
	s.fails("start", id, tooLow, "stopped", "It was not started", "and max_price_kop_h is")
	s.expectRequests(id, 0, 1)
	if output, ok := s.invoke("start", id, enough); !ok {
		s.Errorf("a start within the cap fails: %s", output)
	}
}

func testPriceCapOfBid(s *actionTest) {
	offer := s.CheapestOffer("rtx_4090", "interruptible")
	id := s.create(offer.ID, `,"type":"interruptible"`)
	limit := fmt.Sprintf("max_price_kop_h = %d", *offer.Price.InterruptibleKopH+50)
	if output, ok := s.invoke("restart", id, limit); !ok {
		s.Errorf("a restart within the cap fails: %s", output)
	}
	s.expectRequests(id, 1, 1)
	s.raiseBid(offer, 100)
	s.fails("start", id, limit, "", "It was stopped again", "run again later")
	s.expectRequests(id, 1, 1)
	s.Advance(time.Hour)
	s.fails("restart", id, limit, "", "only started", "It was stopped again")
	s.Advance(time.Hour)
	s.expectResult(id, "stopped", "", nil)
}

func testBurnLimit(s *actionTest) {
	id := s.createAny()
	s.provider = s.Provider("spending = { max_burn_kop_h = 1 }")
	s.fails("restart", id, "", "running", "Burn rate would exceed max_burn_kop_h") // it could not start again
	s.expectRequests(id, 0, 0)
	s.succeeds("stop", id, "stopped")
	s.expectRequests(id, 0, 1)
	s.fails("start", id, "", "stopped", "Burn rate would exceed max_burn_kop_h")
	s.fails("restart", id, "", "stopped", "Burn rate would exceed max_burn_kop_h")
	s.expectRequests(id, 0, 0)
}

func testTimeout(s *actionTest) {
	id := s.createAny()
	s.setStatus(id, "stopping")
	s.fails(
		"start",
		id,
		`timeout = "100ms"`,
		"stopping",
		"is not ready yet",
		"longer than 100ms (timeout)",
		"Run the action again",
		`Last seen: status "stopping"`,
		"The end of its log",
	)
	s.fails("stop", id, `timeout = "100ms"`, "stopping", "is not stopped yet")
}

func testConflict(s *actionTest) {
	id := s.createAny()
	s.succeeds("stop", id, "stopped")
	s.expectRequests(id, 0, 1)
	err := s.AddFault(simulator.Fault{Method: "POST", Path: "/instances/" + id + "/start", Status: 409, Times: 1})
	if err != nil {
		s.Fatal(err)
	}
	s.fails("start", id, "", "stopped", "Cannot start instance", "conflict", `Last seen: status "stopped"`)
	s.expectRequests(id, 1, 0)
}

func testMissingScope(s *actionTest) {
	id := s.createAny()
	s.provider = s.ProviderWithKey(s.Secret(`{"name":"reader","scopes":["instances:read"]}`))
	s.fails("stop", id, "", "running", "lacks the scope instances:write")
	s.provider = s.ProviderWithKey(s.Secret(`{"name":"stranger","scopes":["user:read"]}`))
	s.fails("stop", id, "", "running", "could not be read", "lacks the scope instances:read")
}
