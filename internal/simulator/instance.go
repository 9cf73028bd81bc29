package simulator

import (
	"fmt"
	"time"
)

const (
	typeOnDemand      = "on_demand"
	typeInterruptible = "interruptible"

	statusCreating   = "creating"
	statusStarting   = "starting"
	statusRunning    = "running"
	statusStopping   = "stopping"
	statusStopped    = "stopped"
	statusDestroying = "destroying"
	statusDestroyed  = "destroyed"
	statusFailed     = "failed"
	statusOutbid     = "outbid"

	desiredRunning   = "running"
	desiredStopped   = "stopped"
	desiredDestroyed = "destroyed"

	stoppedByUser       = "user"
	stoppedByLowBalance = "low_balance"
	stoppedByAdmin      = "admin"
	stoppedByProvider   = "provider"
)

var (
	allStatuses = []string{
		statusCreating, statusStarting, statusRunning, statusStopping, statusStopped,
		statusDestroying, statusDestroyed, statusFailed, statusOutbid,
	}
	allDesired     = []string{desiredRunning, desiredStopped, desiredDestroyed}
	allStopReasons = []string{stoppedByUser, stoppedByLowBalance, stoppedByAdmin, stoppedByProvider}
)

// instance is a rental of an offer.
type instance struct {
	Seq        int64
	ID         string
	Name       *string
	offer      *offer
	Rental     string
	template   *template
	Image      string
	DiskGB     int64
	Status     string
	Desired    string
	StopReason *string
	CreatedAt  time.Time
	StartedAt  *time.Time
	// bidKopH is the interruptible price the server was taken at; 0 for on-demand.
	BidKopH      int64
	RunningKopH  int64
	StoppedKopH  int64
	TrafficKopGB int64
	// reachable is whether the ports are assigned; host and firstPort are where.
	Reachable bool
	Host      string
	FirstPort int64
	// ahead is what will happen to it, in order, if nothing intervenes.
	Ahead []transition
	Meter meter
	// TrafficMilliKop is what all traffic has cost, thousandths of a kopeck; TrafficPostedKop stands in the ledger.
	TrafficMilliKop  int64
	TrafficPostedKop int64
	Log              []string
	// OutbidSoon is whether the quirk outbid-soon-after-start has had its turn.
	OutbidSoon bool

	// OfferID and TemplateSlug name offer and template where pointers cannot.
	OfferID      string
	TemplateSlug string

	transition, posting timer
	// countedLive is whether the world counts it among the live ones.
	countedLive bool
	// encoded is its JSON without the cost, nil when it has changed since.
	encoded []byte
}

// transition is a change that will come by itself.
type transition struct {
	At time.Time
	// to is the status that begins then; "" means that the ports get assigned.
	To string
}

func (i *instance) number() int64 { return i.Seq }

// destroyed instances can still be read and renamed; everything else is forbidden by their state.
func (i *instance) destroyed() bool { return i.Status == statusDestroyed }

// ending tells whether nothing but its end is ahead.
func (i *instance) ending() bool { return i.Status == statusDestroying || i.Status == statusDestroyed }

// live tells whether the server runs or is on the way to running, so that money must be there for it.
func (i *instance) live() bool {
	switch i.Status {
	case statusCreating, statusStarting, statusRunning:
		return i.Desired == desiredRunning
	case statusStopped:
		// A start that has not yet shown.
		return i.Desired == desiredRunning && len(i.Ahead) > 0
	}
	return false
}

// bidPassed tells whether the market has gone above the bid of a server that runs. Only such a server is outbid.
func (i *instance) bidPassed() bool {
	if i.Rental != typeInterruptible || i.Status != statusRunning || i.Desired != desiredRunning {
		return false
	}
	market := i.offer.InterruptibleKopH
	return market != nil && *market > i.BidKopH
}

// rate returns what an hour costs in the present status, kopecks. Running time counts from the first moment of running,
// so the first boot is free; a later one pays for the disk, which is there already.
func (i *instance) rate() int64 {
	switch i.Status {
	case statusRunning, statusStopping:
		return i.RunningKopH
	case statusStopped, statusOutbid:
		return i.StoppedKopH
	case statusStarting:
		if i.StartedAt != nil {
			return i.StoppedKopH
		}
	}
	return 0
}

type instanceView struct {
	ID           string        `json:"id"`
	Name         *string       `json:"name"`
	Status       string        `json:"status"`
	DesiredState string        `json:"desired_state"`
	Type         string        `json:"type"`
	GPU          instanceGPU   `json:"gpu"`
	Template     templateRef   `json:"template"`
	Image        string        `json:"image"`
	DiskGB       int64         `json:"disk_gb"`
	Country      *string       `json:"country"`
	Price        instancePrice `json:"price"`
	SSH          *instanceSSH  `json:"ssh"`
	URLs         []instanceURL `json:"urls"`
	CreatedAt    time.Time     `json:"created_at"`
	StartedAt    *time.Time    `json:"started_at"`
	StopReason   *string       `json:"stop_reason"`
	// CostSoFarKop stands last: it alone changes by itself, and the rest is kept encoded.
	CostSoFarKop int64 `json:"cost_so_far_kop"`
}

func (w *world) viewInstance(i *instance) instanceView {
	m := i.offer.model
	view := instanceView{
		ID: i.ID, Name: i.Name, Status: i.Status, DesiredState: i.Desired, Type: i.Rental,
		GPU:      instanceGPU{m.slug, m.name, i.offer.count, &m.vramGB},
		Template: templateRef{i.template.Slug, i.template.Name},
		Image:    i.Image, DiskGB: i.DiskGB, Country: i.offer.country,
		Price: instancePrice{i.RunningKopH, i.StoppedKopH, i.TrafficKopGB},
		URLs:  []instanceURL{}, CreatedAt: i.CreatedAt, StartedAt: i.StartedAt, StopReason: i.StopReason,
		CostSoFarKop: w.costKop(i),
	}
	if i.Reachable && i.template.hasSSH() {
		view.SSH = &instanceSSH{i.Host, i.FirstPort, "root", fmt.Sprintf("ssh -p %d root@%s", i.FirstPort, i.Host)}
	}
	for n, port := range i.template.Ports {
		label, ok := i.template.Labels[port]
		if !ok {
			label = fmt.Sprintf("Port %d", port)
		}
		link := instanceURL{Label: label}
		if i.Reachable {
			link.URL = new(fmt.Sprintf("http://%s:%d/", i.Host, i.FirstPort+1+int64(n)))
		}
		view.URLs = append(view.URLs, link)
	}
	return view
}

func (w *world) findInstance(id string) *instance { return w.index.instances[id] }
