package fleet_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// A fleet, and an instance that is one of its members, are read beside the fleet: its plans and its destruction
// succeed. When the instance is planned, they fail, and the state keeps all that it has of the fleet.
func TestOwnership_MemberInTwoObjects(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	s.apply(train(2))
	id := s.members()["0"]

	p := s.process()
	get, diags := p.Import("gpurent_instance", id)
	expectErrors(t, "a get of a member", diags)
	_, diags = p.Import("gpurent_fleet", s.fleet.Text("id"))
	expectErrors(t, "a get of the fleet", diags)
	fleet, diags := p.Refresh(s.fleet)
	expectErrors(t, "the refresh", diags)
	for _, change := range []arguments{train(2), nil} {
		_, diags = p.Plan(fleet, change)
		expectErrors(t, "a plan", diags)
	}

	p = s.process()
	_, diags = p.Plan(get, nil)
	expectErrors(t, "the plan of the instance", diags)
	twice := "Instance " + id + " is in the state twice"
	for _, change := range []arguments{train(2), nil} {
		_, diags = p.Plan(fleet, change)
		expectErrors(t, "a plan of the fleet", diags, twice)
	}
	after, diags := p.Destroy(fleet)
	expectErrors(t, "the destruction", diags, twice)
	if !after.State.Equal(fleet.State) || string(after.Private) != string(fleet.Private) {
		t.Errorf("the state is %s, before %s", after.State, fleet.State)
	}

	p = s.process()
	_, diags = p.Import("gpurent_instance", id)
	expectErrors(t, "a get before the destruction", diags)
	_, diags = p.Destroy(fleet)
	expectErrors(t, "the destruction", diags)
	left(t, env, 0)
}

// expectErrors fails the test unless the summaries of all errors are those.
func expectErrors(t *testing.T, what string, diags []*tfprotov6.Diagnostic, want ...string) {
	t.Helper()
	var got []string
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			got = append(got, d.Summary)
		}
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("%s: the errors are %q, want %q", what, got, want)
	}
}

// Instances have the names of members of a fleet that the plan creates, as after a killed creation. Without a chosen
// key, the apply takes none of them: the warning advises against it, with an import block.
func TestPlan_OthersOfNewFleet(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	rent(env, `"template":"pytorch","disk_gb":60`)
	const block = "import { to = gpurent_fleet.NAME id = \"train\" }"
	for prefix, want := range map[any][]string{
		nil:    {"takes none of them", "all are billed", "do not apply", block},
		"prod": {"within recover_within", "apply takes them", "all are billed", block},
	} {
		s := newSession(t, env)
		s.provider["idempotency_prefix"] = prefix
		_, messages := s.plan(train(2))
		contains(t, messages, append(want, "Instances have the names of members of fleet train", "(train-0)",
			"!their keys prove it")...)
	}
}

// Instances that have the names of members and that no state tracks are named in plans and stay, in slots of the fleet
// and above.
func TestPlan_OthersOfExistingFleet(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	s := newSession(t, env)
	s.apply(train(1))
	others := rent(env, `"template":"pytorch","disk_gb":20`, `"template":"pytorch","disk_gb":20`)
	want := []string{"Instances have the names of members of fleet train", others[0], others[1]}
	contains(t, s.unchanged(train(1)), want...)
	_, messages := s.plan(nil)
	contains(t, messages, want...)
	s.destroy()
	left(t, env, 2)
}

// Two states of one account, or one state with create_before_destroy, have a fleet of the same name. Each rents its own
// servers, changes and destroys only these, and has no changes after an apply.
func TestApply_OneNameTwice(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	first, second := newSession(t, env), newSession(t, env)
	first.apply(train(2))
	before := first.members()
	second.apply(train(1))
	env.Advance(2 * time.Hour)
	contains(t, second.apply(train(4)), "!rented before")
	contains(t, first.unchanged(train(2)), "Instances have the names of members of fleet train")
	contains(t, second.unchanged(train(4)), "Instances have the names of members of fleet train")
	second.destroy()
	first.unchanged(train(2))
	if now := first.members(); !maps.Equal(now, before) {
		t.Errorf("the first fleet has %v, before %v", now, before)
	}
	left(t, env, 2)
}

// An apply that grows a fleet is killed: the state has none of the new members, at any later time. The plan of the old
// size names them. An apply of any size and a destroy find them, also from a restored backup of the state.
func TestApply_KilledGrowth(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		later time.Duration
		then  func(t *testing.T, env *acctest.Env, s *session)
	}{
		"a larger size": {2 * time.Hour, func(t *testing.T, env *acctest.Env, s *session) {
			t.Helper()
			contains(t, s.apply(train(4)), "These members (2) were rented before")
			left(t, env, 4)
		}},
		"a smaller size": {0, func(t *testing.T, env *acctest.Env, s *session) {
			t.Helper()
			contains(t, s.apply(train(1)), "These members (2) were rented before")
			left(t, env, 3)
			contains(t, s.apply(train(1)), "destroyed, because size is 1")
			left(t, env, 1)
		}},
		"the old size": {time.Minute, func(t *testing.T, _ *acctest.Env, s *session) {
			t.Helper()
			contains(t, s.unchanged(train(2)), "(train-3)", "unmanaged")
			contains(t, s.destroy(), "More instances of fleet train were destroyed")
		}},
		"a destroy": {2 * time.Hour, func(*testing.T, *acctest.Env, *session) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := acctest.Start(t)
			s := newSession(t, env)
			s.apply(train(2))
			saved := s.fleet
			s.apply(train(4))
			s.fleet = saved
			env.Advance(test.later)
			test.then(t, env, s)
			if !s.fleet.State.IsNull() {
				s.destroy()
			}
			left(t, env, 0)
		})
	}
}

// With idempotency_prefix, the keys of a creation are chosen. A second state with the same prefix and name gets an
// error that names the servers, changes nothing and rents nothing, unless they are young: then it takes them, with a
// warning.
func TestCreate_OnePrefixInTwoStates(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	in := func(prefix string) *session {
		s := newSession(t, env)
		s.provider["idempotency_prefix"] = prefix
		return s
	}
	first, second := in("prod"), in("prod")
	first.apply(train(2))
	ids := first.members()
	env.Advance(2 * time.Hour)
	contains(t, second.apply(train(3)), "Error: Fleet train cannot take existing instances", ids["0"], ids["1"],
		"another idempotency_prefix", "import {", `id = "train"`)
	first.unchanged(train(2))
	left(t, env, 2)
	third, fourth := in("test"), in("test")
	third.apply(train(1))
	contains(t, fourth.apply(train(1)), "!Error: ", third.members()["0"], "state rm ADDRESS")
	fourth.replaced(third.members())
}

// loseCreation processes a request and answers with something that does not come from the API.
func loseCreation(w http.ResponseWriter, r *http.Request, api http.Handler) {
	simtest.Record(w, r, api)
	simtest.Respond(http.StatusForbidden, "<html>")(w, r, api)
}

// The outcome of a create request is unknown. The state contains the slot, so that the next apply takes the server, and
// a destruction destroys it, also that of a tainted fleet, which has no private state.
func TestCreate_UnknownOutcome(t *testing.T) {
	t.Parallel()
	second := func(r *http.Request) bool {
		if !simtest.Request("POST", "/instances")(r) {
			return false
		}
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err == nil && bytes.Contains(body, []byte(`"train-1"`))
	}
	for _, minimum := range []int64{1, 2} {
		t.Run(fmt.Sprint("min_ready=", minimum), func(t *testing.T) {
			t.Parallel()
			proxy := new(simtest.Proxy)
			proxy.Set(simtest.Match(second).Do(loseCreation))
			env := acctest.Start(t, proxy.Option())
			s := newSession(t, env)
			config := train(2, arguments{"min_ready": minimum})
			messages := s.apply(config)
			contains(t, messages, "may have been rented under the idempotency key", "next apply or destroy finds it")
			tainted := strings.Contains(messages, "Error: ")
			if left(t, env, 2); tainted != (minimum == 2) || s.members()["1"] != "" {
				t.Errorf("the state has %v: %s", s.members(), messages)
			}
			proxy.Set()
			if tainted {
				s.fleet.Private = nil
			} else {
				before := s.members()
				s.apply(config)
				s.replaced(before, "1")
				left(t, env, 2)
				s.unchanged(config)
			}
			s.destroy()
			left(t, env, 0)
		})
	}
}

// In another account, the keys of a slot with an unknown outcome prove nothing: the slot stays in the state.
func TestApply_UnknownOutcomeInAnotherAccount(t *testing.T) {
	t.Parallel()
	proxy := new(simtest.Proxy)
	proxy.Set(simtest.Request("POST", "/instances").Do(loseCreation))
	env, other := acctest.Start(t, proxy.Option()), acctest.Start(t)
	s := newSession(t, env)
	one := train(1, arguments{"min_ready": int64(0)})
	s.apply(one)
	proxy.Set()
	s.env = other
	const wrong = "Error: Cannot find an instance of fleet train"
	before := s.fleet
	contains(t, s.apply(one), wrong)
	s.fleet = before
	plan, _ := s.process().Plan(before, one) // without a refresh
	contains(t, s.applyPlan(plan), wrong)
	s.fleet = before
	contains(t, s.destroy(), wrong)
	s.env = env
	contains(t, s.apply(one), "These members (1) were rented before")
	s.destroy()
	left(t, env, 0)
	left(t, other, 0)
}
