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
	seq        int64
	id         string
	name       *string
	offer      *offer
	rental     string
	template   *template
	image      string
	diskGB     int64
	status     string
	desired    string
	stopReason *string
	createdAt  time.Time
	startedAt  *time.Time
	sshKeys    []*sshKey
	// bidKopH is the interruptible price the server was taken at; 0 for on-demand.
	bidKopH      int64
	runningKopH  int64
	stoppedKopH  int64
	trafficKopGB int64
	// reachable is whether the ports are assigned; host and firstPort are where.
	reachable bool
	host      string
	firstPort int64
	// ahead is what will happen to it, in order, if nothing intervenes.
	ahead []transition
	meter meter
	log   []string
}

// transition is a change that will come by itself.
type transition struct {
	at time.Time
	// to is the status that begins then; "" means that the ports get assigned.
	to string
}

func (i *instance) number() int64 { return i.seq }

// destroyed instances can still be read, but are not found for anything else.
func (i *instance) destroyed() bool { return i.status == statusDestroyed }

// ending tells whether nothing but its end is ahead.
func (i *instance) ending() bool { return i.status == statusDestroying || i.status == statusDestroyed }

// live tells whether the server runs or is on the way to running, so that money must be there for it.
func (i *instance) live() bool {
	switch i.status {
	case statusCreating, statusStarting, statusRunning:
		return i.desired == desiredRunning
	case statusStopped:
		// A start that has not yet shown.
		return i.desired == desiredRunning && len(i.ahead) > 0
	}
	return false
}

// bidPassed tells whether the market has gone above the bid of a server that has its GPU.
func (i *instance) bidPassed() bool {
	if i.rental != typeInterruptible || !i.live() {
		return false
	}
	market := i.offer.interruptibleKopH
	return market != nil && *market > i.bidKopH
}

// rate returns what an hour costs in the present status, kopecks. Running time counts from the first moment of running,
// so the first boot is free; a later one pays for the disk, which is there already.
func (i *instance) rate() int64 {
	switch i.status {
	case statusRunning, statusStopping:
		return i.runningKopH
	case statusStopped, statusOutbid:
		return i.stoppedKopH
	case statusStarting:
		if i.startedAt != nil {
			return i.stoppedKopH
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
	CostSoFarKop int64         `json:"cost_so_far_kop"`
	SSH          *instanceSSH  `json:"ssh"`
	URLs         []instanceURL `json:"urls"`
	CreatedAt    time.Time     `json:"created_at"`
	StartedAt    *time.Time    `json:"started_at"`
	StopReason   *string       `json:"stop_reason"`
}

type instanceGPU struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Count  int64  `json:"count"`
	VRAMGB *int64 `json:"vram_gb"`
}

type templateRef struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

type instancePrice struct {
	RunningKopH  int64 `json:"running_kop_h"`
	StoppedKopH  int64 `json:"stopped_kop_h"`
	TrafficKopGB int64 `json:"traffic_kop_gb"`
}

type instanceSSH struct {
	Host    string `json:"host"`
	Port    int64  `json:"port"`
	User    string `json:"user"`
	Command string `json:"command"`
}

type instanceURL struct {
	Label string  `json:"label"`
	URL   *string `json:"url"`
}

func (w *world) viewInstance(i *instance) instanceView {
	m := i.offer.model
	view := instanceView{
		ID: i.id, Name: i.name, Status: i.status, DesiredState: i.desired, Type: i.rental,
		GPU:      instanceGPU{m.slug, m.name, i.offer.count, &m.vramGB},
		Template: templateRef{i.template.slug, i.template.name},
		Image:    i.image, DiskGB: i.diskGB, Country: i.offer.country,
		Price:        instancePrice{i.runningKopH, i.stoppedKopH, i.trafficKopGB},
		CostSoFarKop: i.meter.kopecks(w.at), URLs: []instanceURL{},
		CreatedAt: i.createdAt, StartedAt: i.startedAt, StopReason: i.stopReason,
	}
	if i.reachable && i.template.hasSSH() {
		view.SSH = &instanceSSH{i.host, i.firstPort, "root", fmt.Sprintf("ssh -p %d root@%s", i.firstPort, i.host)}
	}
	for n, port := range i.template.ports {
		label, ok := i.template.labels[port]
		if !ok {
			label = fmt.Sprintf("Port %d", port)
		}
		link := instanceURL{Label: label}
		if i.reachable {
			link.URL = new(fmt.Sprintf("http://%s:%d/", i.host, i.firstPort+1+int64(n)))
		}
		view.URLs = append(view.URLs, link)
	}
	return view
}

func (w *world) findInstance(id string) *instance {
	for _, i := range w.rentals {
		if i.id == id {
			return i
		}
	}
	return nil
}
