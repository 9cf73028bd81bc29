package simulator_test

import (
	"math"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// hourMS turns what a model counts, kopecks per hour times milliseconds, into kopecks. Whole numbers hold it exactly:
// a history is far too short to overflow them.
const hourMS = int64(time.Hour / time.Millisecond)

// host is what the model knows of an offer.
type host struct {
	offer
	listed, online, failBoots bool
	tenant                    *rented
	// told is the last answer about it that was found right, and now what was right about it.
	told string
	now  hostState
}

// hostState is what changes about an offer.
type hostState struct {
	free          bool
	onDemand      int64
	interruptible *int64 // a new one for each price
}

// free is whether it can be rented now.
func (h *host) free() bool { return h.listed && h.online && h.tenant == nil }

// price is what the market asks for a rental type now, nil when it does not let the server that way.
func (h *host) price(interruptible bool) *int64 {
	if interruptible {
		return h.Price.Interruptible
	}
	return &h.Price.OnDemand
}

// diskKopH is the documented price of a disk: so much a GB and month, a month being 730 hours, rounded up.
func (h *host) diskKopH(gb int64) int64 { return (h.Price.Storage*gb + 729) / 730 }

// extraKopH is the part of it that is not in the price of the server.
func (h *host) extraKopH(gb int64) int64 { return h.diskKopH(max(gb-10, 0)) }

// rented is the model of an instance: what it must look like now, and what it must have cost.
type rented struct {
	console.Instance
	host      *host
	diskGB    int64
	createdAt time.Time
	startedAt *time.Time
	// hasSSH and ports are what its template promises.
	hasSSH bool
	ports  int
	// address is its SSH command, once it was seen.
	address string
	// ahead is whether something is still to come by itself; loose, whether its goal was set by hand, so that where it
	// is and where it is heading need not fit together.
	ahead, loose bool
	// rate is what an hour costs from now on, passed what it cost until now; dearest is the highest rate so far.
	rate, passed, dearest int64
	// used is what all its hours have cost, postedKop how much of it the ledger says.
	used, postedKop int64
	// trafficMilliKop is what its traffic has cost, in thousandths, and trafficKop what the ledger says.
	trafficMilliKop, trafficKop int64
	traffic                     int64 // kopecks per GB
}

func (i *rented) interruptible() bool { return i.Type == "interruptible" }
func (i *rented) destroyed() bool     { return i.Status == "destroyed" }

// accruedKop is the usage that the ledger does not say yet.
func (i *rented) accruedKop() int64 { return i.used/hourMS - i.postedKop }

// costKop is cost_so_far_kop.
func (i *rented) costKop() int64 { return i.used/hourMS + i.trafficMilliKop/1000 }

// live is whether money must be there for it: it runs, or is on its way to running.
func (i *rented) live() bool {
	if i.Desired != "running" {
		return false
	}
	switch i.Status {
	case "creating", "starting", "running":
		return true
	case "stopped":
		return i.ahead // a start was accepted, and does not show yet
	}
	return false
}

// bidPassed is whether the market takes the GPU away: only from a server that runs.
func (i *rented) bidPassed() bool {
	return i.Status == "running" && i.Desired == "running" && i.overbid()
}

// overbid is whether the market is above the bid that stands.
func (i *rented) overbid() bool {
	market := i.host.Price.Interruptible
	return i.interruptible() && market != nil && *market > i.BidKopH
}

// bill is what an hour costs in the present status: the running price until a stop is over, the disk while the GPU is
// not there, and nothing before the server has first run or when it is going.
func (i *rented) bill() {
	switch i.Status {
	case "running", "stopping":
		i.rate = i.RunningKopH
	case "stopped", "outbid":
		i.rate = i.StoppedKopH
	case "starting":
		i.rate = 0
		if i.startedAt != nil {
			i.rate = i.StoppedKopH
		}
	default:
		i.rate = 0
	}
	i.dearest = max(i.dearest, i.rate)
}

// next is where an instance may go by itself, from each status, towards each goal. Staying is always right; how long is
// checked apart.
var next = map[string]map[string][]string{
	"running": {"creating": {"starting"}, "starting": {"running", "failed"}, "stopped": {"starting"}, "outbid": {"starting"}},
	"stopped": {
		"creating": {"stopped"}, "starting": {"stopped"}, "running": {"stopping"}, "stopping": {"stopped"}, "outbid": {"stopped"},
	},
	"destroyed": {"destroying": {"destroyed"}},
}

// enter puts the model into a status.
func (i *rented) enter(status string, at time.Time) {
	i.Status = status
	if status == "running" && i.startedAt == nil {
		i.startedAt = &at
	}
	if status != "running" {
		i.SSH = ""
	}
	switch status {
	case "stopped", "outbid", "failed":
		i.ahead = false
	case "destroyed":
		i.ahead, i.host.tenant = false, nil
	}
	i.bill()
}

// head gives it a goal, and time to get there.
func (i *rented) head(desired, reason string) {
	i.Desired, i.StopReason, i.ahead = desired, reason, true
}

// stop is what a stop does, whoever asks for it.
func (i *rented) stop(reason string) {
	waiting := i.Status == "stopped"
	i.head("stopped", reason)
	i.SSH, i.ahead = "", !waiting
}

// vanish is what the end of its host does.
func (i *rented) vanish(at time.Time) {
	switch i.Status {
	case "creating", "starting", "running", "stopping":
	case "stopped":
		if !i.live() {
			return
		}
	default:
		return
	}
	if i.Desired == "running" {
		i.StopReason = "provider"
	}
	i.Desired = "stopped"
	i.enter("stopped", at)
}

// fleet is the model of all instances, oldest first.
type fleet []*rented

func (f fleet) burn() (kopH int64) {
	for _, i := range f {
		kopH += i.rate
	}
	return kopH
}

func (f fleet) live() bool {
	for _, i := range f {
		if i.live() {
			return true
		}
	}
	return false
}

// accruedKop is the usage in whole kopecks that the ledger does not say yet.
func (f fleet) accruedKop() (kop int64) {
	for _, i := range f {
		kop += i.accruedKop()
	}
	return kop
}

func (f fleet) held() (n int64) {
	for _, i := range f {
		if !i.destroyed() {
			n++
		}
	}
	return n
}

// purse is the model of the money.
type purse struct {
	balanceKop, creditKop int64
	// entries are all lines of the ledger that were ever seen, oldest first.
	entries []console.Entry
	booked  map[string]bool // by id
	// adjustKop is the sum of what was set by hand and the ledger must say next.
	adjustKop int64
}

// left is the money there is, credit included, exact to the fraction of a kopeck.
func (p *purse) left(f fleet) int64 {
	left := (p.balanceKop + p.creditKop) * hourMS
	for _, i := range f {
		left -= i.used - i.postedKop*hourMS
	}
	return left
}

// availableKop is what may be spent, the credit limit apart.
func (p *purse) availableKop(f fleet) int64 { return p.balanceKop - f.accruedKop() }

// short is how much is missing for two hours at a price; nothing is when it is not above zero.
func (p *purse) short(f fleet, kopH int64) int64 { return 2*kopH - p.availableKop(f) - p.creditKop }

// runway is how many hours the money lasts, rounded as documented.
func (p *purse) runway(f fleet) float64 {
	hours := float64(max(p.left(f), 0)) / float64(hourMS) / float64(f.burn())
	return math.Round(hours*100) / 100
}
