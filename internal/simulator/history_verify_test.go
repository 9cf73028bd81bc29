package simulator_test

import (
	"strings"
	"time"
)

// told is an instance as the API tells it, but for what the model does not follow.
type told struct {
	instance
	Type  string
	Disk  int64 `json:"disk_gb"`
	Price struct {
		Running int64 `json:"running_kop_h"`
		Stopped int64 `json:"stopped_kop_h"`
		Traffic int64 `json:"traffic_kop_gb"`
	}
}

// verify compares what the API tells with the model: after each step all of it must be right at once.
func (h *history) verify() {
	h.verifyBalance()
	var p page[told]
	h.do("GET", "/instances?status=all&limit=200", nil).want(200).into(&p)
	if len(p.Data) != len(h.fleet) {
		h.rt.Fatalf("%d instances, want %d", len(p.Data), len(h.fleet))
	}
	for n := range p.Data {
		h.verifyInstance(&p.Data[n], h.fleet[len(h.fleet)-1-n])
	}
	for _, host := range h.hosts {
		h.verifyHost(host)
	}
}

func (h *history) verifyBalance() {
	var b struct {
		balance
		Credit int64 `json:"credit_limit_kop"`
	}
	h.do("GET", "/balance", nil).want(200).into(&b)
	burn := h.burn()
	if b.Balance != h.balanceKop || b.Credit != h.creditKop || b.Available != h.availableKop(h.fleet) || b.Burn != burn || (b.Runway == nil) != (burn == 0) {
		h.rt.Fatalf("balance %+v, want %d, available %d, credit %d, burn %d", b, h.balanceKop, h.availableKop(h.fleet), h.creditKop, burn)
	}
	// Half a hundredth either way, where the rounding is at its edge.
	if b.Runway != nil && (*b.Runway-h.runway(h.fleet) > 0.011 || h.runway(h.fleet)-*b.Runway > 0.011) {
		h.rt.Fatalf("the money lasts %v hours, want %v", *b.Runway, h.runway(h.fleet))
	}
}

func (h *history) verifyInstance(seen *told, i *rented) {
	reason := ""
	if seen.StopReason != nil {
		reason = *seen.StopReason
	}
	if seen.ID != i.ID || seen.Status != i.Status || seen.DesiredState != i.Desired || reason != i.StopReason || seen.Type != i.Type ||
		seen.Disk != i.diskGB || seen.Cost != i.costKop() || !seen.CreatedAt.Equal(i.createdAt) || !equalTimes(seen.StartedAt, i.startedAt) {
		h.rt.Fatalf("told %+v, want %+v", seen, i)
	}
	if seen.Price.Running != i.RunningKopH || seen.Price.Stopped != i.StoppedKopH || seen.Price.Traffic != i.traffic {
		h.rt.Fatalf("prices %+v, want %+v", seen, i)
	}
	command := ""
	if seen.SSH != nil {
		command = seen.SSH.Command
	}
	if command != i.SSH || (seen.SSH == nil) != (command == "") {
		h.rt.Fatalf("%s has SSH %+v, want %q", i.ID, seen.SSH, i.SSH)
	}
	for n, u := range seen.URLs {
		if (u.URL == nil) != (i.destroyed() || i.URLs[n].URL == "") {
			h.rt.Fatalf("%s has addresses %+v, want %+v", i.ID, seen.URLs, i.URLs)
		}
	}
}

func equalTimes(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// verifyHost reads an answer only when it, or what it must say, is another one than the last.
func (h *history) verifyHost(host *host) {
	a := h.do("GET", "/offers/"+host.ID, nil).want(200)
	right := hostState{host.free(), host.Price.OnDemand, host.Price.Interruptible}
	if host.told == string(a.raw) && host.now == right {
		return
	}
	host.told, host.now = string(a.raw), right
	var o offer
	a.into(&o)
	bid, want := o.Price.Interruptible, host.Price.Interruptible
	if o.Available != host.free() || o.Price.OnDemand != host.Price.OnDemand ||
		(bid == nil) != (want == nil) || bid != nil && *bid != *want {
		h.rt.Fatalf("offer %+v, want %+v", o, host)
	}
}

// verifyAll is what would take too long after each step: whole lists, and the logs.
func (h *history) verifyAll() {
	entries := h.ledger("")
	if len(entries) != len(h.entries) {
		h.rt.Fatalf("the ledger has %d lines, want %d", len(entries), len(h.entries))
	}
	var sum int64
	for n, e := range entries {
		was := h.entries[len(entries)-1-n]
		if !e.At.Equal(was.At) {
			h.rt.Fatalf("a line of the ledger has moved from %v to %v", was.At, e.At)
		}
		if e.At = was.At; e != was {
			h.rt.Fatalf("a line of the ledger has changed from %+v to %+v", was, e)
		}
		sum += e.AmountKop
	}
	if sum != h.balanceKop {
		h.rt.Fatalf("the ledger sums to %d, the balance is %d", sum, h.balanceKop)
	}
	listed := string(h.do("GET", "/offers?limit=200", nil).want(200).raw)
	for _, host := range h.hosts {
		shown := strings.Contains(listed, host.ID)
		if shown != host.free() {
			h.rt.Fatalf("offer %s is shown: %v; %+v", host.ID, shown, host)
		}
	}
	active := list[instance](h.rig, "/instances", 3)
	if len(active) != int(h.held()) {
		h.rt.Fatalf("%d active instances, want %d", len(active), h.held())
	}
	for _, i := range h.fleet {
		want := 200
		if !i.host.online {
			want = 503
		}
		h.do("GET", "/instances/"+i.ID+"/logs", nil).want(want)
	}
}
