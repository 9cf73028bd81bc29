package fleet_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// status sets the status of a server.
func status(t *testing.T, env *acctest.Env, id, status string) {
	t.Helper()
	if err := env.SetInstance(id, simulator.InstancePatch{Status: &status}); err != nil {
		t.Error(err)
	}
}

// The plan names the members that an apply changes, and the reason.
func TestPlan_NamesChangedMembers(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	s.apply(train(4))
	before := s.members()
	status(t, env, before["1"], "failed")
	env.Delete("instances/" + before["2"])
	env.Post("instances/"+before["3"]+"/stop", "")
	contains(t, s.apply(train(4)), "Fleet train changes existing members", "): replaced, because its status is failed",
		"slot 2: ", "slot 3: start", "!slot 0: ")
	s.replaced(before, "1", "2")
	s.unchanged(train(4))
}

// An apply destroys no member that its plan did not name: a member that fails between plan and apply stays until the
// next apply.
func TestApply_DestroysOnlyPlannedMembers(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	s.apply(train(3))
	before := s.members()
	status(t, env, before["2"], "failed")
	plan, messages := s.plan(train(3))
	contains(t, messages, "slot 2 (", "): replaced, because its status is failed", "!slot 0")
	status(t, env, before["0"], "failed")
	contains(t, s.applyPlan(plan), "!Error: ", "2 of 3 members are ready", "slot 0 ("+before["0"]+"): failed now, and "+
		"the plan did not show its destruction: kept until the next apply")
	s.replaced(before, "2")
	before = s.members()
	contains(t, s.apply(train(3)), "slot 0 (", "): replaced, because its status is failed")
	s.replaced(before, "0")
}

// on_outbid determines what happens to an outbid member.
func TestApply_OnOutbid(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("outbid-soon-after-start")) // it outbids the replacement, too
	s := newSession(t, env)
	spot := func(policy string) arguments {
		return train(2, arguments{"type": "interruptible", "on_outbid": policy})
	}
	s.apply(spot("restart"))
	before := s.members()
	for _, step := range []struct {
		policy, status string
		replaced       []string
	}{
		{"keep", "outbid", nil}, {"restart", "running", nil}, {"replace", "running", []string{"0"}},
	} {
		status(t, env, before["0"], "outbid")
		s.apply(spot(step.policy))
		s.replaced(before, step.replaced...)
		if got := s.values("status")["0"]; got != step.status {
			t.Errorf("%s: the status is %s", step.policy, got)
		}
	}
}

// desired_state starts the members again, and stopping counts those that are stopped already.
func TestApply_DesiredState(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	stopped := train(2, arguments{"desired_state": "stopped"})
	s.apply(train(2))
	before := s.members()
	for _, id := range before {
		env.Post("instances/"+id+"/stop", "")
	}
	env.Advance(time.Minute)
	s.apply(stopped)
	s.unchanged(stopped)
	s.apply(train(2))
	s.replaced(before)
	if running := s.values("status"); running["0"] != "running" || running["1"] != "running" {
		t.Errorf("the members are %v", running)
	}
}

// With update = "rolling", a change to the arguments of the members replaces them in place, otherwise the fleet.
func TestApply_RollingUpdate(t *testing.T) {
	t.Parallel()
	s := newSession(t, acctest.Start(t))
	rolling := arguments{"update": "rolling", "max_unavailable": int64(2), "min_ready": int64(3)}
	larger := arguments{"disk_gb": int64(30)}
	s.apply(train(3, rolling))
	before := s.members()
	s.apply(train(3, rolling, larger))
	s.replaced(before, "0", "1", "2")
	s.unchanged(train(3, rolling, larger))
	before = s.members()
	s.apply(train(3, larger))
	s.replaced(before)
	for name, change := range map[string]arguments{
		"disk_gb": {"disk_gb": int64(40)}, "template": {"template": "ubuntu"}, "name": {"name": "other"},
	} {
		if plan, _ := s.plan(train(3, larger, change)); !slices.Equal(plan.Replaces, []string{name}) {
			t.Errorf("%v replace the fleet, want %s", plan.Replaces, name)
		}
	}
}

// Policies, queries and SSH keys change in place, without a request that writes. The image of a template that fixes it
// is an error.
func TestApply_ChangesArgumentsOnly(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	s.apply(train(2))
	before := s.members()
	env.ClearRequests()
	s.apply(train(2, arguments{
		"on_outbid": "keep", "allocation": "all", "min_ready": int64(1), "ssh_key_ids": []any{},
		"same": []any{"country", "gpu"}, "max_price_kop_h": int64(1000000), "wait_for_offer": "5m",
		"timeouts":      arguments{"create": "1h", "update": "1h", "delete": "1h"},
		"ready_when":    arguments{"ssh_reachable": false},
		"offer_queries": []any{arguments{"gpu": []any{"rtx_3090"}}, arguments{}},
	}))
	s.replaced(before)
	for _, request := range env.Requests() {
		if request.Method != "GET" {
			t.Errorf("%s %s", request.Method, request.Path)
		}
	}
	for _, update := range []string{"replace", "rolling"} {
		_, messages := s.plan(train(2, arguments{"image": "foo/bar:1", "update": update}))
		contains(t, messages, "Error: Image differs from the template")
	}
}

// A limit that is lowered below the prices of running members stops none of them. Each plan warns.
func TestPlan_WarnsOfMembersAboveCap(t *testing.T) {
	t.Parallel()
	s := newSession(t, acctest.Start(t))
	s.apply(train(2))
	before := s.members()
	capped := arguments{"max_price_kop_h": int64(100)}
	const warning = "Running instances cost more than max_price_kop_h"
	contains(t, s.apply(train(2, capped)), warning, before["0"], before["1"])
	contains(t, s.unchanged(train(2, capped)), warning)
	s.replaced(before)
	contains(t, s.apply(train(2, capped, arguments{"desired_state": "stopped"})), "!"+warning)
}

// One member that the API finds shows that the other one is gone, also at another address of the API. If it finds none,
// a destroy keeps all in the state.
func TestDestroy_MissingAtAnotherAddress(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	s.apply(train(2))
	ids := s.members()
	lose := func(id string) {
		env.Delete("instances/" + id)
		env.Advance(time.Hour)
		if err := env.AddFault(simulator.Fault{Path: "/instances/" + id, Status: http.StatusNotFound}); err != nil {
			t.Fatal(err)
		}
	}
	lose(ids["0"])
	s.provider["base_url"] = strings.Replace(env.BaseURL, "127.0.0.1", "localhost", 1)
	before := s.fleet
	_, messages := s.plan(train(2))
	contains(t, messages, "slot 0: not found: another one is rented")
	s.fleet = before
	lose(ids["1"])
	contains(t, s.destroy(), "Error: ", "Cannot find an instance of fleet train", "It was created at")
	if now := s.members(); !maps.Equal(now, ids) {
		t.Errorf("the state has %v, before %v", now, ids)
	}
	env.ClearFaults()
	contains(t, s.destroy(), "!Error: ")
	left(t, env, 0)
}

// limitOffers leaves this many offers available.
func limitOffers(t *testing.T, env *acctest.Env, left int) (withheld []string) {
	t.Helper()
	for _, offer := range env.Offers("limit=200")[left:] {
		withheld = append(withheld, offer.ID)
	}
	available(t, env, false, withheld...)
	return withheld
}

// available makes offers available, or not.
func available(t *testing.T, env *acctest.Env, available bool, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := env.SetOffer(id, simulator.OfferPatch{Available: &available}); err != nil {
			t.Error(err)
		}
	}
}

// All or nothing: with capacity for 7 of 8, nothing is left. With wait_for_offer, the apply waits for the eighth.
func TestCreate_AllOrNothing(t *testing.T) {
	t.Parallel()
	p := new(simtest.Proxy)
	env := acctest.Start(t, p.Option())
	s := newSession(t, env)
	withheld := limitOffers(t, env, 7)
	all := arguments{"allocation": "all", "offer_queries": []any{arguments{}}}
	contains(t, s.apply(train(8, all)), "Error: ", "slots 0, 1", "7: Offers needed: 8. Matching the query: 7.")
	if left(t, env, 0); !s.fleet.State.IsNull() {
		t.Errorf("the state is %s", s.fleet.State)
	}
	var lists atomic.Int64
	p.Set(simtest.Request("GET", "/offers").Do(simtest.Before(func(*http.Request) {
		if lists.Add(1) == 4 { // while the apply waits
			available(t, env, true, withheld[0])
		}
	})))
	contains(t, s.apply(train(8, all, arguments{"wait_for_offer": "1m"})), "!Error: ")
	left(t, env, 8)
}

// With min_ready = 0, a creation that rents nothing succeeds, and the next plan contains all members.
func TestCreate_MinReadyZero(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	withheld := limitOffers(t, env, 0)
	config := train(2, arguments{"min_ready": int64(0)})
	contains(t, s.apply(config), "!Error: ", "Warning: Fleet train is not complete", "0 of 2 members are ready",
		"The next apply continues")
	available(t, env, true, withheld...)
	env.Advance(time.Minute) // lists of offers may be that old
	s.apply(config)
	s.replaced(nil, "0", "1")
	s.unchanged(config)
}

// If the waits of a creation fail, allocation = "all" destroys what was rented. Otherwise the error names untaint,
// which keeps the members, and the next apply continues to wait.
func TestCreate_NotReadyInTime(t *testing.T) {
	t.Parallel()
	p := new(simtest.Proxy)
	p.Set(simtest.Request("GET", "/instances/.*/logs").Do(simtest.Before(func(*http.Request) {
		time.Sleep(time.Second) // a wait costs little CPU, so that its time can be ample for the rentals
	})))
	env := acctest.Start(t, p.Option())
	s := newSession(t, env)
	waits := arguments{
		"ready_when": arguments{"log_pattern": "^READY$"}, "timeouts": arguments{"create": "10s"}, "allocation": "all",
	}
	contains(t, s.apply(train(2, waits)), "Error: ", "destroyed the members that it had created (2)")
	if left(t, env, 0); !s.fleet.State.IsNull() {
		t.Errorf("the state is %s", s.fleet.State)
	}
	waits["allocation"] = "any"
	contains(t, s.apply(train(2, waits)), "Error: ", "too few ready members", "Not ready in time, status",
		"ready_when.log_pattern is not met", "is tainted", "terraform untaint ADDRESS")
	before := s.members()
	for range 2 { // the second refresh is the one without changes
		_, messages := s.plan(train(2, waits))
		contains(t, messages, "slots 0, 1: the apply waits, because it was not ready last time",
			"!Instances have the names of members")
	}
	p.Set(simtest.Request("GET", "/instances/.*/logs").Do(simtest.SetField("lines", []string{"READY"})))
	s.apply(train(2, waits))
	s.replaced(before)
	s.unchanged(train(2, waits))
	// The members have kept what they were created with.
	_, messages := s.plan(train(2, waits, arguments{"disk_gb": int64(30), "update": "rolling"}))
	contains(t, messages, "): replaced, because it was created with other arguments")
}

// A plan compares a fleet with all its members with the limits of the provider.
func TestPlan_SpendingLimits(t *testing.T) {
	t.Parallel()
	// The limit needs the balance, and the neighbours cost more than it allows.
	s := newSession(t, acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours")))
	s.provider["spending"] = arguments{"max_burn_kop_h": int64(12000)}
	_, messages := s.plan(train(20))
	contains(t, messages, "Error: Burn rate would exceed max_burn_kop_h", "Nothing was rented or started")
	_, messages = s.plan(train(1))
	contains(t, messages, "!Error: ")
}

func TestValidate_InvalidArguments(t *testing.T) {
	t.Parallel()
	p := newSession(t, acctest.Start(t)).process()
	for want, change := range map[string]arguments{
		"must consist of the letters a to z and A to Z": {"name": "-x"},
		"must consist of the letters a to z":            {"name": "обучение"},
		"between 1 and 40":                              {"name": strings.Repeat("x", 41)},
		"between 0 and 5000":                            {"size": int64(5001)},
		"between 10 and 2000":                           {"disk_gb": int64(5)},
		"must contain at least 1 elements":              {"offer_queries": []any{}},
		"contains a null value":                         {"offer_queries": []any{nil}},
		"must be at most sum of size":                   {"min_ready": int64(3)},
		"duration above zero":                           {"timeouts": arguments{"create": "-5m"}},
		"regular expression":                            {"ready_when": arguments{"log_pattern": "("}},
	} {
		resp, err := p.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: "gpurent_fleet", Config: acctest.Pack(t, p.Value("gpurent_fleet", train(2, change))),
		})
		if err != nil {
			t.Fatal(err)
		}
		contains(t, texts(resp.Diagnostics), "Error: ", want)
	}
}

// With a spending limit, a plan that cannot read the offers fails, and so does one that would destroy members first.
// Without one, the apply reports it.
func TestPlan_UnreadableOffers(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("all")) // the error is that of this request
	unreadable := simtest.Request("GET", "/offers").Do(simtest.Fail(403))
	env.Proxy.Set(unreadable)
	s := newSession(t, env)
	_, messages := s.plan(train(1))
	contains(t, messages, "!Error: ")
	s.provider["spending"] = arguments{"max_burn_kop_h": int64(12000)}
	_, messages = s.plan(train(1))
	contains(t, messages, "Error: Cannot determine the price of the planned fleet")
	delete(s.provider, "spending")

	env.Proxy.Set()
	s.apply(train(1))
	env.Advance(time.Minute)
	env.Proxy.Set(unreadable)
	plan, messages := s.plan(train(1, arguments{"disk_gb": int64(30)}))
	contains(t, messages, "Error: Cannot determine the price of the planned fleet")
	if len(plan.Replaces) == 0 {
		t.Error("the plan replaces nothing")
	}
}
