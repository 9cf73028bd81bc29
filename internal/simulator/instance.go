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

// instance is a rented server.
type instance struct {
	Seq            int64
	ID             string
	IdempotencyKey string
	Name           *string
	offer          *offer
	Rental         string
	template       *template
	Image          string
	DiskGB         int64
	Status         string
	Desired        string
	StopReason     *string
	CreatedAt      time.Time
	StartedAt      *time.Time
	// BidKopH is the interruptible price of the bid; 0 for on-demand.
	BidKopH      int64
	RunningKopH  int64
	StoppedKopH  int64
	TrafficKopGB int64
	// Reachable reports whether the ports are assigned. Host and FirstPort are the address.
	Reachable bool
	Host      string
	FirstPort int64
	// Ahead are the scheduled transitions, in order.
	Ahead []transition
	Meter meter
	Log   []string

	// OfferID and TemplateSlug identify offer and template in the state file.
	OfferID      string
	TemplateSlug string

	transitionEvent, postingEvent event
}

// transition is a scheduled change of an instance.
type transition struct {
	At time.Time
	// To is the next status; "" means that the ports are assigned.
	To string
}

func (i *instance) sequence() int64 { return i.Seq }

// destroyed reports whether the instance is destroyed. It can still be read and renamed.
func (i *instance) destroyed() bool { return i.Status == statusDestroyed }

// destroying reports whether the instance is being destroyed or is destroyed.
func (i *instance) destroying() bool {
	return i.Status == statusDestroying || i.Status == statusDestroyed
}

// live reports whether the instance runs or will run, so that it needs funds.
func (i *instance) live() bool {
	switch i.Status {
	case statusCreating, statusStarting, statusRunning:
		return i.Desired == desiredRunning
	case statusStopped:
		// A start was accepted, and the status does not show it yet.
		return i.Desired == desiredRunning && len(i.Ahead) > 0
	}
	return false
}

// isOutbid reports whether the market price is above the bid. Only a running instance can be outbid.
func (i *instance) isOutbid() bool {
	if i.Rental != typeInterruptible || i.Status != statusRunning || i.Desired != desiredRunning {
		return false
	}
	market := i.offer.InterruptibleKopH
	return market != nil && *market > i.BidKopH
}

// rateKopH returns the current charge in kopecks per hour. Billing begins when the instance first runs, so the first
// boot is free. A later boot is billed as stopped, because the disk exists.
func (i *instance) rateKopH() int64 {
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
	CostSoFarKop int64         `json:"cost_so_far_kop"`
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

func (e *engine) viewInstance(i *instance) instanceView {
	m := i.offer.model
	view := instanceView{
		ID: i.ID, Name: i.Name, Status: i.Status, DesiredState: i.Desired, Type: i.Rental,
		GPU:      instanceGPU{m.slug, m.name, i.offer.GPU.Count, &m.vramGB},
		Template: templateRef{i.template.Slug, i.template.Name},
		Image:    i.Image, DiskGB: i.DiskGB, Country: i.offer.Country,
		Price: instancePrice{i.RunningKopH, i.StoppedKopH, i.TrafficKopGB},
		URLs:  []instanceURL{}, CreatedAt: i.CreatedAt, StartedAt: i.StartedAt, StopReason: i.StopReason,
		CostSoFarKop: e.costKop(i),
	}
	if i.Reachable && i.template.hasSSH() {
		host, port := e.sshAddress(i)
		view.SSH = &instanceSSH{host, port, "root", fmt.Sprintf("ssh -p %d root@%s", port, host)}
	}
	for n, port := range i.template.Ports {
		label, ok := i.template.Labels[port]
		if !ok {
			label = fmt.Sprintf("Port %d", port)
		}
		link := instanceURL{Label: label}
		if i.Reachable {
			link.URL = new(e.pageURL(i, n))
		}
		view.URLs = append(view.URLs, link)
	}
	return view
}

func (e *engine) findInstance(id string) *instance { return e.index.instances[id] }
