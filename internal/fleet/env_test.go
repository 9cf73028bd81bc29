package fleet_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

var within = rentaltest.Within

// env is a simulator with fake time.
type env struct {
	*simtest.Bubble
	t     *testing.T
	boots simtest.Proxy // closer to the simulator than Proxy
}

// run runs a test in a bubble.
func run(t *testing.T, config simulator.Config, test func(t *testing.T, e *env)) {
	t.Helper()
	e := new(env)
	config.Wrap = e.boots.Wrap
	simtest.InBubble(t, config, func(t *testing.T, b *simtest.Bubble) {
		e.Bubble, e.t = b, t
		test(t, e)
	})
}

// subtest runs a subtest in a bubble.
func subtest(t *testing.T, name string, config simulator.Config, test func(t *testing.T, e *env)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { run(t, config, test) })
}

// runAny runs a test of fleets that keep any of their members, and of those that keep all or none.
func runAny(t *testing.T, config simulator.Config, test func(t *testing.T, e *env, all bool)) {
	t.Helper()
	for name, all := range map[string]bool{"any": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			run(t, config, func(t *testing.T, e *env) { test(t, e, all) })
		})
	}
}

// must returns the value of a call that cannot fail in a test.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// failBoots makes the instances of an offer fail while they boot, until boots are set otherwise.
func (e *env) failBoots(offer string) {
	e.boots.Set(simtest.Creates(offer).Do(simtest.Before(func(*http.Request) {
		time.AfterFunc(5*time.Second, func() {
			for _, i := range e.Overview().Instances {
				if i.OfferID == offer && (i.Status == "creating" || i.Status == "starting") {
					e.SetStatus(i.ID, rental.StatusFailed)
				}
			}
		})
	})))
}

// refuse answers some requests with an error of the API, which does nothing.
func (e *env) refuse(status int, when simtest.Match) { e.Proxy.Set(when.Do(simtest.Fail(status))) }

// lose answers some requests with an error after the work is done.
func (e *env) lose(when simtest.Match) { e.Proxy.Set(when.Do(simtest.LoseResponse)) }

// hideNames makes the API omit the names of instances.
func (e *env) hideNames() {
	e.edit(anyInstance, func(inst map[string]any) { delete(inst, "name") })
}

// edit changes each instance in the responses to some requests for instances.
func (e *env) edit(when simtest.Match, change func(inst map[string]any)) {
	e.Proxy.Set(when.Do(simtest.RewriteItems(change)))
}

// neverReady keeps the status of an instance at starting, after other rules.
func (e *env) neverReady(name string, rules ...simtest.Rule) {
	e.Proxy.Set(append(rules, anyInstance.Do(simtest.RewriteItems(func(inst map[string]any) {
		if inst["name"] == name && inst["status"] == "running" {
			inst["status"] = "starting"
		}
	})))...)
}

// multiplyPrice changes the running price of an instance in a response.
func multiplyPrice(inst map[string]any, percent int64) {
	price := inst["price"].(map[string]any)
	price["running_kop_h"] = int64(price["running_kop_h"].(float64)) * percent / 100
}

var (
	anyInstance = simtest.Request("", "/instances.*")
	deletes     = simtest.Request("DELETE", ".*")
	emptyList   = simtest.Request("GET", "/instances").Do(simtest.Respond(200, `{"data":[],"next_cursor":null}`))
)

// engine returns the engine of a new run. Limits are those of the provider configuration; none by default.
func (e *env) engine(limits ...spending.Limits) *fleet.Engine {
	poll := 5 * time.Second
	limits = append(limits, spending.Limits{RequireFunds: spending.FundsOff})
	cache, account := rental.NewCache(e.Client), spending.NewAccount(limits[0], e.Client)
	manager := lifecycle.New(lifecycle.Config{
		Client: e.Client, Template: cache.Templates.Find, PollInterval: poll, Account: account, Owners: new(lifecycle.Owners),
	})
	return &fleet.Engine{
		Cache: cache, Lifecycle: manager, Market: market.New(cache, manager, poll), RecoverWithin: time.Hour,
	}
}

// burnLimit are limits with a burn limit.
func burnLimit(kopH int64) spending.Limits {
	return spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: kopH}
}

// spec describes a fleet that the state contains.
func spec(size int) fleet.Spec {
	return fleet.Spec{
		Owner: fleet.Owner{
			Object: lifecycle.Object{Token: "fleet", Fleet: "train/1"}, Seed: lifecycle.FleetSeed("train/1"),
		},
		Name: "train", Size: size,
		Request: rental.InstanceCreate{Template: "pytorch", DiskGB: 20, Type: rental.OnDemand},
		Offers:  market.Demand{Queries: []rental.OfferQuery{{Type: rental.OnDemand}}},
		Target: lifecycle.Target{
			State: rental.DesiredRunning, OnOutbid: lifecycle.OutbidRestart, Template: "pytorch",
		},
	}
}

// newFleet describes a fleet that no state contains, with a random seed.
func newFleet(size int) fleet.Spec {
	s := spec(size)
	id := lifecycle.NewFleetID("train")
	s.Owner = fleet.Owner{Object: lifecycle.Object{Token: "new", Fleet: id}, Seed: lifecycle.NewFleetSeed(id)}
	return s
}

// saved describes a new fleet after its creation.
func saved(s fleet.Spec) fleet.Spec {
	s.Owner.Seed = lifecycle.FleetSeed(s.Owner.Object.Fleet)
	return s
}

// chosenFleet describes a fleet that no state contains, with a seed that the user has chosen.
func chosenFleet(size int) fleet.Spec {
	s := newFleet(size)
	s.Owner.Chosen = lifecycle.ChosenName("fleet", "prod", "train")
	s.Owner.Seed = s.Owner.Chosen
	return s
}

// allOf describes a fleet that is rented as a whole or not at all.
func allOf(size int, wait time.Duration) fleet.Spec {
	s := spec(size)
	s.All, s.Offers.Wait = true, wait
	return s
}

// resized describes the same fleet with another size.
func resized(s fleet.Spec, size int) fleet.Spec {
	s.Size = size
	return s
}

func interruptible(size int) fleet.Spec {
	s := spec(size)
	s.Request.Type, s.Offers.Queries[0].Type = rental.Interruptible, rental.Interruptible
	return s
}

// rolling describes a fleet with a larger disk, whose members are replaced in groups.
func rolling(size, maxUnavailable int) fleet.Spec {
	s := spec(size)
	s.MaxUnavailable, s.Request.DiskGB = maxUnavailable, 40
	return s
}

func (e *env) apply(spec fleet.Spec, members []fleet.Member) fleet.Result {
	e.t.Helper()
	return e.engine().Apply(e.t.Context(), spec, members, 30*time.Minute+spec.Offers.Wait)
}

// create applies a description without members, and returns the members, which must all be ready.
func (e *env) create(spec fleet.Spec) []fleet.Member {
	e.t.Helper()
	result := e.apply(spec, nil)
	e.want(result, spec.Size)
	return result.Members
}

// destroyAll destroys a fleet.
func (e *env) destroyAll(spec fleet.Spec, members []fleet.Member) fleet.Result {
	e.t.Helper()
	return must(e.engine().Destroy(e.t.Context(), spec, members, time.Hour))
}

// read reads members as a refresh does, a minute later.
func (e *env) read(members []fleet.Member) []fleet.Member {
	e.t.Helper()
	time.Sleep(time.Minute) // until what was stopped or destroyed is
	members, _, err := e.engine().Refresh(e.t.Context(), members)
	return must(members, err)
}

// want fails unless the result has this many members, all ready, and no failures.
func (e *env) want(result fleet.Result, members int) {
	e.t.Helper()
	ready := fleet.Ready(result.Members, rental.DesiredRunning)
	if len(result.Members) != members || ready != members || len(result.Failures) > 0 {
		e.t.Fatalf("want %d ready members: %s", members, describe(result))
	}
	if left := len(e.Active()); left != members {
		e.t.Fatalf("the account has %d instances, want %d", left, members)
	}
}

// wantLeft fails unless this many instances exist, all of them members, and this many were ever rented.
func (e *env) wantLeft(result fleet.Result, left, rented int) {
	e.t.Helper()
	if active, all := len(e.Active()), len(e.Instances()); active != left || len(result.Members) != left || all != rented {
		e.t.Errorf("%d exist, %d were rented, want %d and %d: %s", active, all, left, rented, describe(result))
	}
}

func describe(result fleet.Result) string {
	var text []string
	for _, m := range result.Members {
		text = append(text, fmt.Sprintf("%d:%s", m.Slot, m.Instance.Status))
	}
	for _, f := range result.Failures {
		text = append(text, fmt.Sprintf("slot %d: %s", f.Slot, f.Err))
	}
	return strings.Join(text, " ")
}

// ids returns the ids of members by slot.
func ids(members []fleet.Member) map[int]string {
	found := map[int]string{}
	for _, m := range members {
		found[m.Slot] = m.Instance.ID
	}
	return found
}

// kind returns the name of the type of an error; for a rejected instance, that of the reason.
func kind(err error) string {
	if rejected, ok := errors.AsType[lifecycle.Rejected](err); ok {
		err = rejected.Reason
	}
	return rentaltest.ErrorName(err)
}

// kinds returns the kinds of the failures by slot.
func kinds(result fleet.Result) map[int]string {
	found := map[int]string{}
	for _, f := range result.Failures {
		found[f.Slot] = kind(f.Err)
	}
	return found
}

// enrich lifts the limits of the account.
func (e *env) enrich() {
	e.t.Helper()
	e.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(2000)), BalanceKop: new(int64(1e12))})
}

// fail sets the status of members to failed.
func (e *env) fail(members ...fleet.Member) {
	e.t.Helper()
	for _, m := range members {
		e.SetStatus(m.Instance.ID, rental.StatusFailed)
	}
}

// taken lets others take the offers of members as soon as those are destroyed.
func (e *env) taken(members ...fleet.Member) {
	e.t.Helper()
	for _, m := range members {
		e.SetOffer(m.Offer.ID, simulator.OfferPatch{Available: new(false)})
	}
}

// outbid multiplies the prices of the offers of interruptible members.
func (e *env) outbid(factor int64, members ...fleet.Member) {
	e.t.Helper()
	for _, m := range members {
		patch := simulator.OfferPatch{InterruptibleKopH: new(factor * m.Instance.Price.RunningKopH)}
		e.SetOffer(m.Offer.ID, patch)
	}
}

// rent rents the instance of a slot under one of its keys, as an apply that was killed, and returns its id.
func (e *env) rent(seed lifecycle.KeySeed, slot, generation int) string {
	e.t.Helper()
	order := spec(1).Request
	order.Name, order.OfferID = fleet.MemberName("train", slot), e.Offers()[0].ID
	inst, _, err := e.Client.CreateInstance(e.t.Context(), seed.Slot(slot).Key(generation), order)
	return must(inst, err).ID
}

// destroy destroys an instance outside of the fleet.
func (e *env) destroy(id string) {
	e.t.Helper()
	must(e.Client.DeleteInstance(e.t.Context(), id))
	time.Sleep(time.Minute) // until it is destroyed
}

// priceOf is the price of members that are rented from offers.
func priceOf(offers ...rental.Offer) (kopH int64) {
	for _, offer := range offers {
		kopH += offer.Price.OnDemandKopH + offer.DiskKopH(10) // 10 of 20 GB are included
	}
	return kopH
}
