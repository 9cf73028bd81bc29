package rental

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// InstanceStatus is the current state of an instance. Treat a value not listed here as in transition.
type InstanceStatus string

// The known states.
const (
	StatusCreating   InstanceStatus = "creating"
	StatusStarting   InstanceStatus = "starting"
	StatusRunning    InstanceStatus = "running"
	StatusStopping   InstanceStatus = "stopping"
	StatusStopped    InstanceStatus = "stopped"
	StatusDestroying InstanceStatus = "destroying"
	StatusDestroyed  InstanceStatus = "destroyed"
	StatusFailed     InstanceStatus = "failed"
	StatusOutbid     InstanceStatus = "outbid" // interruptible only: the market price rose above the bid
)

// DesiredState is where an instance is heading. Empty when the service does not say.
type DesiredState string

// The known desired states.
const (
	DesiredRunning   DesiredState = "running"
	DesiredStopped   DesiredState = "stopped"
	DesiredDestroyed DesiredState = "destroyed"
)

// RentalType says whether a server can be taken away by a higher bid.
type RentalType string

// The known rental types.
const (
	OnDemand      RentalType = "on_demand"
	Interruptible RentalType = "interruptible"
)

// The known values of Instance.StopReason.
const (
	StopReasonUser       = "user"
	StopReasonLowBalance = "low_balance"
	StopReasonAdmin      = "admin"
	StopReasonProvider   = "provider"
)

// Instance is a rented server.
type Instance struct {
	ID           string         `json:"id"`
	Name         *string        `json:"name"`
	Status       InstanceStatus `json:"status"`
	DesiredState DesiredState   `json:"desired_state"`
	Type         RentalType     `json:"type"`
	GPU          InstanceGPU    `json:"gpu"`
	Template     TemplateRef    `json:"template"`
	Image        string         `json:"image"`
	DiskGB       int64          `json:"disk_gb"`
	Country      *string        `json:"country"` // ISO-2
	Price        InstancePrice  `json:"price"`
	CostSoFarKop int64          `json:"cost_so_far_kop"` // charged so far
	SSH          *SSH           `json:"ssh"`             // nil until the port is assigned
	URLs         []InstanceURL  `json:"urls"`
	CreatedAt    time.Time      `json:"created_at"`
	StartedAt    *time.Time     `json:"started_at"`  // first time running; nil before
	StopReason   *string        `json:"stop_reason"` // one of the StopReason constants

	Omitted InstanceOmitted `json:"-"`
}

func (i Instance) identity() string { return i.ID }

func (i *Instance) readIdentity(body []byte) { i.ID = cmp.Or(i.ID, firstText(body, "id")) }

func (i Instance) validate() error {
	return checkPrices(i.Price.RunningKopH, i.Price.StoppedKopH, i.Price.TrafficKopGB)
}

// InstanceGPU is the GPU side of an instance.
type InstanceGPU struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Count  int64  `json:"count"`
	VRAMGB *int64 `json:"vram_gb"` // per GPU
}

// TemplateRef names the template that an instance was made from. Zero when the service does not say.
type TemplateRef struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// InstancePrice is what an instance costs.
type InstancePrice struct {
	RunningKopH  int64 `json:"running_kop_h"`  // kopecks per hour while running
	StoppedKopH  int64 `json:"stopped_kop_h"`  // kopecks per hour while stopped: the disk only
	TrafficKopGB int64 `json:"traffic_kop_gb"` // kopecks per GB
}

// SSH is how to log in.
type SSH struct {
	Host    string `json:"host"`
	Port    int64  `json:"port"`
	User    string `json:"user"`
	Command string `json:"command"` // ready to run
}

// InstanceURL is a web interface of the template.
type InstanceURL struct {
	Label string  `json:"label"`
	URL   *string `json:"url"` // nil while not ready
}

// InstanceCreate is what to rent. OfferID, Template and DiskGB are required.
type InstanceCreate struct {
	OfferID   string     `json:"offer_id"`
	Template  string     `json:"template"`             // slug
	DiskGB    int64      `json:"disk_gb"`              // 10 to 2000
	Name      string     `json:"name,omitempty"`       // up to 60 characters
	SSHKeyIDs []string   `json:"ssh_key_ids,omitzero"` // up to 10; nil: all of the account's keys; empty: none
	Type      RentalType `json:"type,omitempty"`       // default OnDemand
	Image     string     `json:"image,omitempty"`      // for the custom template only
}

// InstanceUpdate is a new name; nil clears it.
type InstanceUpdate struct {
	Name *string `json:"name"` // up to 60 characters
}

// The values of ListInstancesQuery.Status.
const (
	ListActive = "active" // without destroyed instances; the service's default
	ListAll    = "all"
)

// ListInstancesQuery says which instances to list.
type ListInstancesQuery struct {
	Status string // ListActive or ListAll; empty: the service's default
	ListOptions
}

// ListInstances lists the account's instances. Scope: instances:read.
func (c *Client) ListInstances(ctx context.Context, query ListInstancesQuery) iter.Seq2[Instance, error] {
	req := request{path: []string{"instances"}, scope: ScopeInstancesRead}
	if query.Status != "" {
		req.query = url.Values{"status": {query.Status}}
	}
	return list[Instance](ctx, c, req, query.ListOptions)
}

// CreateInstance rents a server. Scope: instances:write. The idempotency key is 1 to 64 printable ASCII characters: all calls with
// one key rent at most one server, and a repeat returns that server with replayed true (which is also so when an answer was lost and
// the transport repeated the request). When IsOutcomeUnknown, repeat with the same key before anything else is tried.
//
// An answer that cannot be read in full is an error, but the server is rented: when created.ID is not empty beside an error, save it.
// The other fields then hold what could be read.
//
// Errors: IsInsufficientFunds (Error.ShortKop), IsForbidden with Error.Reason email_not_verified, IsNotFound (offer or template),
// IsConflict (price changed, or a limit), IsValidation, IsUnavailable.
func (c *Client) CreateInstance(ctx context.Context, idempotencyKey string, instance InstanceCreate) (created Instance, replayed bool, err error) {
	req := request{method: http.MethodPost, path: []string{"instances"}, scope: ScopeInstancesWrite, body: instance, repeat: keyed, idempotencyKey: idempotencyKey, success: []int{http.StatusCreated, http.StatusOK}}
	if err := checkIdempotencyKey(idempotencyKey); err != nil {
		return Instance{}, false, c.refuse(req, err)
	}
	resp, err := c.exchange(ctx, req, &created)
	if err != nil && created.ID == "" {
		return Instance{}, false, err
	}
	replayed = resp.status == http.StatusOK || resp.header.Get("Idempotent-Replayed") == "true"
	return created, replayed, err
}

// GetInstance returns one instance, destroyed ones too. Scope: instances:read.
func (c *Client) GetInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{method: http.MethodGet, path: []string{"instances", id}, scope: ScopeInstancesRead, about: id})
}

// UpdateInstance renames an instance; nothing else can be changed. Scope: instances:write.
func (c *Client) UpdateInstance(ctx context.Context, id string, update InstanceUpdate) (Instance, error) {
	return fetch[Instance](ctx, c, request{method: http.MethodPatch, path: []string{"instances", id}, scope: ScopeInstancesWrite, body: update, about: id})
}

// StartInstance starts a stopped instance, or bids again for an outbid one. Scope: instances:write. IsInsufficientFunds when the
// balance does not cover two hours; IsConflict when the state forbids it, which a repeat after a lost answer may find too. The returned
// status may lag behind.
func (c *Client) StartInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{method: http.MethodPost, path: []string{"instances", id, "start"}, scope: ScopeInstancesWrite, about: id})
}

// StopInstance stops a running instance; its disk is still billed. Scope: instances:write. IsConflict when the state forbids it.
func (c *Client) StopInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{method: http.MethodPost, path: []string{"instances", id, "stop"}, scope: ScopeInstancesWrite, about: id})
}

// DeleteInstance destroys an instance with its disk and returns it as destroying. Scope: instances:write. IsConflict when it is
// destroying or destroyed already: also when an answer was lost and the transport repeated the request.
func (c *Client) DeleteInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{method: http.MethodDelete, path: []string{"instances", id}, scope: ScopeInstancesWrite, about: id})
}

// GetInstanceLogs returns the last lines of the startup log. Scope: instances:read. tail is 1 to 1000; 0: the service's default, 200.
func (c *Client) GetInstanceLogs(ctx context.Context, id string, tail int64) ([]string, error) {
	req := request{method: http.MethodGet, path: []string{"instances", id, "logs"}, scope: ScopeInstancesRead}
	if tail != 0 {
		req.query = url.Values{"tail": {strconv.FormatInt(tail, 10)}}
	}
	logs, err := fetch[struct {
		Lines []string `json:"lines"`
	}](ctx, c, req)
	return logs.Lines, err
}
