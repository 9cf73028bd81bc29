package simulator_test

import (
	"reflect"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// blink lets some milliseconds pass, so that the next step meets servers that are on their way.
func (h *history) blink(rt *rapid.T) {
	h.pass(time.Duration(rapid.IntRange(1, 6).Draw(rt, "ms")) * time.Millisecond)
}

// settle lets everything come to rest.
func (h *history) settle(*rapid.T) { h.pass(2 * h.boot) }

// wait lets time pass: seconds, hours, days, and now and then up to a round instant.
func (h *history) wait(rt *rapid.T) {
	most := rapid.SampledFrom([]time.Duration{2 * time.Second, time.Hour, 6 * time.Hour, 60 * time.Hour}).Draw(rt, "scale")
	d := time.Duration(rapid.Int64Range(1, most.Milliseconds()).Draw(rt, "ms")) * time.Millisecond
	if rapid.IntRange(0, 3).Draw(rt, "round") == 0 {
		d = h.at.Add(d).Truncate(max(most/2, time.Second)).Sub(h.at)
	}
	h.pass(d)
}

// waitTillDry goes to the very millisecond in which the money is gone, where that is near.
func (h *history) waitTillDry(*rapid.T) {
	h.settle(nil)
	if dry := h.dry(); dry > 0 && dry < 100*time.Hour {
		h.pass(dry)
	}
}

// dry is how long the money lasts for the servers that need it; 0 where there is no end to see.
func (h *history) dry() time.Duration {
	burn := h.burn()
	if !h.live() || burn == 0 {
		return 0
	}
	const forever = int64(1000 * 24 * time.Hour / time.Millisecond)
	return time.Duration(min((h.left(h.fleet)+burn-1)/burn, forever)) * time.Millisecond
}

// pass lets time pass. Where nothing may change by itself, it goes in one step; else millisecond by millisecond, the
// finest grain there is.
func (h *history) pass(d time.Duration) {
	for d > 0 {
		step := h.stride(d)
		still := step > time.Millisecond
		for _, i := range h.fleet {
			i.used += i.rate * step.Milliseconds()
			i.passed = i.rate
		}
		h.at = h.at.Add(step)
		d -= step
		if now := h.Advance(step); !now.Equal(h.at) {
			h.rt.Fatalf("after a step of %v it is %v, want %v", step, now, h.at)
		}
		h.look(still)
	}
}

// stride is how far time may pass at once.
func (h *history) stride(d time.Duration) time.Duration {
	if h.at.Before(h.settles) {
		return min(d, time.Millisecond)
	}
	if dry := h.dry(); dry > 0 {
		// The last millisecond is watched alone: the end must come in it, not before.
		return min(d, max(dry-time.Millisecond, time.Millisecond))
	}
	return d
}

// disturb gives what was set on its way the time that it may take: a boot and what follows it.
func (h *history) disturb() { h.settles = h.at.Add(h.boot * 3 / 2) }

// look compares the model with the service; still is whether nothing may have changed but what time costs.
func (h *history) look(still bool) {
	o := h.Overview()
	if !o.Now.Equal(h.at) {
		h.rt.Fatalf("it is %v, want %v", o.Now, h.at)
	}
	h.readLedger(o.Ledger)
	broke := h.left(h.fleet) <= 0
	for _, i := range h.fleet {
		if i.destroyed() {
			continue
		}
		seen := slices.IndexFunc(o.Instances, func(other console.Instance) bool { return other.ID == i.ID })
		if seen < 0 {
			h.moved(i, "destroyed", still)
			continue
		}
		h.compare(i, &o.Instances[seen], broke, still)
	}
	if o.Total != int(h.held()) || len(o.Instances) != o.Total {
		h.rt.Fatalf("%d instances, want %d", o.Total, h.held())
	}
	if !h.at.Before(h.settles) {
		h.checkSettled()
	}
}

// moved follows an instance into the status that it has now, where it may go there by itself.
func (h *history) moved(i *rented, status string, still bool) {
	if status == i.Status {
		return
	}
	right := !still && i.ahead && (i.loose || slices.Contains(next[i.Desired][i.Status], status))
	if status == "running" && i.host.failBoots || status == "failed" && !i.host.failBoots {
		right = false
	}
	if !right {
		h.rt.Fatalf("%s went from %s to %s, heading to %s, at %v", i.ID, i.Status, status, i.Desired, h.at)
	}
	i.enter(status, h.at)
}

// compare holds one instance against its model.
func (h *history) compare(i *rented, seen *console.Instance, broke, still bool) {
	status := seen.Status
	if status == "outbid" && i.Status == "starting" {
		switch {
		case i.loose:
			// It ran, and the bid was passed while nobody wanted it to run.
			i.enter("running", h.at)
		case i.ahead && !still && i.overbid():
			// The bid was passed while it booted: it ran for no time.
			i.enter("running", h.at)
			i.enter("outbid", h.at)
		}
	}
	h.moved(i, status, still)
	if i.bidPassed() && !i.loose {
		h.rt.Fatalf("%s runs with a bid of %d, and the market is at %d", i.ID, i.BidKopH, *i.host.Price.Interruptible)
	}
	if broke && i.live() {
		i.stop("low_balance")
		h.disturb()
	}
	h.followSSH(i, seen.SSH, still)
	want := i.Instance
	want.BurnKopH, want.CostSoFarKop, want.Online, want.FailBoots = i.rate, i.costKop(), i.host.online, i.host.failBoots
	want.URLs = seen.URLs
	if !reflect.DeepEqual(want, *seen) {
		h.rt.Fatalf("at %v\nseen %+v\nwant %+v", h.at, *seen, want)
	}
	h.checkURLs(i, seen)
	i.URLs = seen.URLs
}

// sshAtOnce stands for an SSH command that must be there, whatever it is.
const sshAtOnce = "?"

// followSSH accepts the SSH port when it may be assigned; it is always the same one.
func (h *history) followSSH(i *rented, seen string, still bool) {
	soon := i.SSH == "" && i.Status == "running" && i.hasSSH && i.ahead && !still
	if seen == "" || !soon && i.SSH != sshAtOnce {
		return
	}
	if i.address != "" && i.address != seen {
		h.rt.Fatalf("%s moved from %q to %q", i.ID, i.address, seen)
	}
	i.SSH, i.address = seen, seen
}

// checkURLs wants the web addresses together with SSH, or while running where there is none.
func (h *history) checkURLs(i *rented, seen *console.Instance) {
	ready := 0
	for _, u := range seen.URLs {
		if u.URL != "" {
			ready++
		}
	}
	good := len(seen.URLs) == i.ports && (ready == 0 || ready == i.ports && i.Status == "running")
	if i.hasSSH && i.ports > 0 {
		good = good && (ready > 0) == (seen.SSH != "")
	}
	if !good {
		h.rt.Fatalf("%s is %s with addresses %+v and SSH %q", i.ID, i.Status, seen.URLs, seen.SSH)
	}
}

// checkSettled wants every instance where it was heading: nothing comes by itself any more.
func (h *history) checkSettled() {
	for _, i := range h.fleet {
		if i.ahead && !i.loose {
			ready := i.Status == i.Desired && (i.Status != "running" || !i.hasSSH || i.SSH != "")
			for _, u := range i.URLs {
				ready = ready && (u.URL != "") == (i.Status == "running")
			}
			if !ready {
				h.rt.Fatalf("%s is %s, heading to %s, and does not get there: %+v", i.ID, i.Status, i.Desired, i.Instance)
			}
		}
		i.ahead = false
	}
}
