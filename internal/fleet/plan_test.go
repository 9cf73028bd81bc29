package fleet_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// planText describes phases: "destroy 2 | stop 0, create 1 | strict: update 3".
func planText(phases []fleet.Phase) string {
	actions := []string{"", "destroy", "stop", "start", "wait", "replace", "create", "update"}
	var text []string
	for _, phase := range phases {
		var changes []string
		for _, c := range slices.Concat(phase.Steps...) {
			changes = append(changes, fmt.Sprintf("%s %d", actions[c.Action], c.Slot))
		}
		kinds := map[[2]bool]string{{true, false}: "strict: ", {true, true}: "strict, all: "}
		text = append(text, kinds[[2]bool{phase.Strict, phase.RollBack}]+strings.Join(changes, ", "))
	}
	return strings.Join(text, " | ")
}

// existing returns members with these statuses, in the slots 0, 1 and so on; a hyphen is a missing member. The prices
// fall from slot to slot.
func existing(statuses string) (members []fleet.Member) {
	for slot, status := range strings.Fields(statuses) {
		m := fleet.Member{Slot: slot, Generation: 1, Request: spec(0).Request}
		if status != "-" {
			m.Instance.ID, m.Instance.Status = fmt.Sprint("ins_", slot), rental.InstanceStatus(status)
			m.Instance.Type, m.Instance.Price.RunningKopH = rental.OnDemand, int64(1000-100*slot)
		}
		members = append(members, m)
	}
	return members
}

func TestPlan(t *testing.T) {
	type change = func(*fleet.Spec, []fleet.Member)
	const short, long = "ubuntu:24.04", "docker.io/library/ubuntu:24.04"
	all := func(s *fleet.Spec, _ []fleet.Member) { s.All = true }
	stopped := func(s *fleet.Spec, _ []fleet.Member) { s.Target.State = rental.DesiredStopped }
	onOutbid := func(policy lifecycle.OutbidPolicy) change {
		return func(s *fleet.Spec, _ []fleet.Member) { s.Target.OnOutbid = policy }
	}
	larger := func(s *fleet.Spec, _ []fleet.Member) { s.Request.DiskGB, s.MaxUnavailable = 40, 2 }
	unknown := func(s *fleet.Spec, m []fleet.Member) {
		larger(s, m)
		m[0].Request = rental.InstanceCreate{}
	}
	oneByOne := func(s *fleet.Spec, m []fleet.Member) {
		larger(s, m)
		s.MaxUnavailable, m[1].NotReady = 0, true
	}
	notReady := func(_ *fleet.Spec, m []fleet.Member) { m[1].NotReady = true }
	rejected := func(_ *fleet.Spec, m []fleet.Member) { m[1].Rejected = true }
	protected := func(_ *fleet.Spec, m []fleet.Member) { m[1].Protected = true }
	spelled := func(s *fleet.Spec, m []fleet.Member) { s.Request.Image, m[0].Request.Image = short, long }
	imported := func(_ *fleet.Spec, m []fleet.Member) {
		m[0].Request.Image, m[1].Request.Image, m[1].Generation = short, short, 0
	}
	for name, test := range map[string]struct {
		size     int
		statuses string
		change   change
		want     string
	}{
		"as described": {2, "running running", nil, ""},
		"a new fleet":  {3, "", nil, "create 0, create 1, create 2"},
		"a heal": {
			5, "running failed - outbid stopped", nil, "start 3, start 4, replace 1, create 2",
		},
		"outbid members are replaced":     {1, "outbid", onOutbid(lifecycle.OutbidReplace), "replace 0"},
		"outbid members are kept":         {1, "outbid", onOutbid(lifecycle.OutbidKeep), ""},
		"a stop":                          {2, "running starting", stopped, "stop 0, wait 1"},
		"what was not ready in time":      {2, "running running", notReady, "wait 1"},
		"what could not be destroyed":     {2, "running running", rejected, "replace 1"},
		"all: the existing members first": {3, "stopped failed", all, "start 0 | strict, all: replace 1, create 2"},
		"smaller: the highest slots":      {1, "running running running", nil, "destroy 1, destroy 2"},
		"smaller: missing ones first":     {2, "- running running", nil, ""},
		"smaller: protected ones last":    {1, "running running", protected, "destroy 0"},
		"smaller, with a heal":            {1, "failed running", nil, "destroy 1 | replace 0"},
		"other arguments: groups, the others first": {
			5, "running running stopped failed", larger,
			"replace 3, create 4 | strict: update 2, update 0 | strict: update 1",
		},
		"other arguments, not ready: down already": {
			2, "running running", oneByOne, "strict: update 1 | strict: update 0",
		},
		"arguments that are not known":            {1, "running", unknown, ""},
		"another spelling of the image":           {1, "running", spelled, ""},
		"the default image of an imported member": {2, "running running", imported, "strict: update 0"},
		"a missing slot of a smaller fleet":       {1, "running -", nil, ""},
	} {
		s, members := spec(test.size), existing(test.statuses)
		if test.change != nil {
			test.change(&s, members)
		}
		if got := planText(fleet.Plan(s, members)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// New members join the location of those that stay: of their offer, or as the API returns it, which may omit the
// country.
func TestSpec_Demand(t *testing.T) {
	members := existing("running running running")
	members[0].Offer.Location = market.Location{GPU: "a", Country: "NL"}
	members[1].Instance.GPU.Slug, members[1].Instance.Country = "b", new("DE")
	members[2].Instance.GPU.Slug = "c"
	s := spec(4)
	s.Offers.SameGPU, s.Offers.SameCountry = true, true
	demand := s.Demand(2, members)
	want := []market.Location{{GPU: "a", Country: "NL"}, {GPU: "b", Country: "DE"}, {GPU: "c"}}
	if !slices.Equal(demand.Existing, want) || !demand.SameGPU || !demand.SameCountry {
		t.Errorf("%+v", demand)
	}
}

// A running member that an apply has not seen ready does not count, a stopped one does.
func TestReady(t *testing.T) {
	members := existing("running running stopped outbid -")
	members[1].NotReady, members[2].NotReady = true, true
	running, stopped := fleet.Ready(members, rental.DesiredRunning), fleet.Ready(members, rental.DesiredStopped)
	if running != 1 || stopped != 1 {
		t.Errorf("%d running, %d stopped", running, stopped)
	}
}

// Members are found by their exact names. Two with one name cannot be imported.
func TestDistinct(t *testing.T) {
	named := func(names ...string) (instances []rental.Instance) {
		for _, name := range names {
			instances = append(instances, rental.Instance{ID: name, Name: &name, Status: rental.StatusRunning})
		}
		return instances
	}
	all := named("train-10", "train-01", "other-0", "train", "train-1", "train-x", "my-train-0", "train-2")
	all[7].Status = rental.StatusDestroyed
	members, err := fleet.Distinct(fleet.Named(all, "train"))
	if err != nil || len(members) != 2 || members[0].Slot != 1 || members[1].Slot != 10 {
		t.Errorf("%+v, %v", members, err)
	}
	if _, err := fleet.Distinct(fleet.Named(named("train-1", "train-1"), "train")); err == nil {
		t.Error("two instances with one name are two members")
	}
}

// A member that is replaced makes room for its own replacement only: new members are rented before it is destroyed.
func TestSpending(t *testing.T) {
	members := existing("running running - stopped running -")
	members[3].Instance.Price.StoppedKopH = 10
	actions := []fleet.Action{fleet.Update, fleet.Update, fleet.Create, fleet.Start, fleet.Destroy, fleet.Create}
	var changes []fleet.Change
	for i, member := range members {
		changes = append(changes, fleet.Change{Action: actions[i], Member: member})
	}
	candidates := []lifecycle.Candidate{{KopH: 600}, {KopH: 550}, {KopH: 600}} // none is left for slot 5
	got := fleet.Spending(changes, candidates)
	want := spending.Change{
		StartsKopH: 600 + 550 + 600 + 700, AddedKopH: 600 + 690,
		Replacements: []spending.Replacement{{ID: "ins_0", KopH: 600}, {ID: "ins_1", KopH: 550}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
