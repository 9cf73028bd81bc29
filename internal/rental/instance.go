package rental

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// InstanceStatus is the current state of an instance. Treat an unknown value as a transition.
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
	StatusOutbid     InstanceStatus = "outbid" // interruptible only: the market price exceeds the bid
)

// DesiredState is the target state of an instance. Empty if unknown.
type DesiredState string

// The known desired states.
const (
	DesiredRunning   DesiredState = "running"
	DesiredStopped   DesiredState = "stopped"
	DesiredDestroyed DesiredState = "destroyed"
)

// RentalType is the type of a rental. An interruptible instance can be outbid.
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
	CostSoFarKop int64          `json:"cost_so_far_kop"` // charged since creation
	SSH          *SSH           `json:"ssh"`             // nil until the port is assigned
	URLs         []InstanceURL  `json:"urls"`
	CreatedAt    time.Time      `json:"created_at"`
	StartedAt    *time.Time     `json:"started_at"`  // start of the first run; nil before
	StopReason   *string        `json:"stop_reason"` // one of the StopReason constants; nil for none

	Omitted InstanceOmitted `json:"-"`
}

func (i Instance) identity() string { return i.ID }

func (i Instance) validate() error {
	return checkPrices(&i.Price.RunningKopH, &i.Price.StoppedKopH, &i.Price.TrafficKopGB)
}

// InstanceGPU describes the GPUs of an instance.
type InstanceGPU struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Count  int64  `json:"count"`
	VRAMGB *int64 `json:"vram_gb"` // per GPU
}

// TemplateRef identifies the template of an instance. Zero if unknown.
type TemplateRef struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// InstancePrice is the price of an instance.
type InstancePrice struct {
	RunningKopH  int64 `json:"running_kop_h"`  // kopecks per hour while running
	StoppedKopH  int64 `json:"stopped_kop_h"`  // kopecks per hour while stopped, for the disk
	TrafficKopGB int64 `json:"traffic_kop_gb"` // kopecks per GB
}

// SSH contains the parameters of an SSH connection.
type SSH struct {
	Host    string `json:"host"`
	Port    int64  `json:"port"`
	User    string `json:"user"`
	Command string `json:"command"` // complete ssh command
}

// InstanceURL is a web interface of the template.
type InstanceURL struct {
	Label string  `json:"label"`
	URL   *string `json:"url"` // nil until ready
}

// InstanceCreate contains the fields of a new instance. OfferID, Template and DiskGB are required.
type InstanceCreate struct {
	OfferID   string     `json:"offer_id"`
	Template  string     `json:"template"`             // slug
	DiskGB    int64      `json:"disk_gb"`              // 10 to 2000
	Name      string     `json:"name,omitempty"`       // up to 60 characters
	SSHKeyIDs []string   `json:"ssh_key_ids,omitzero"` // up to 10; nil for all keys of the account, empty for none
	Type      RentalType `json:"type,omitempty"`       // default OnDemand
	Image     string     `json:"image,omitempty"`      // for the custom template only
}

// InstanceUpdate contains the new name of an instance; nil removes the name.
type InstanceUpdate struct {
	Name *string `json:"name"` // up to 60 characters
}

// The values of ListInstancesQuery.Status.
const (
	ListActive = "active" // without destroyed instances; the API's default
	ListAll    = "all"
)

// ListInstancesQuery filters instances.
type ListInstancesQuery struct {
	Status string // ListActive or ListAll; empty for the API's default
	ListOptions
}

// ListInstances lists the instances of the account. Scope: instances:read.
func (c *Client) ListInstances(ctx context.Context, query ListInstancesQuery) iter.Seq2[Instance, error] {
	req := request{path: []string{"instances"}, scope: ScopeInstancesRead}
	if query.Status != "" {
		req.query = url.Values{"status": {query.Status}}
	}
	return list[Instance](ctx, c, req, query.ListOptions)
}

// CreateInstance rents an instance. Scope: instances:write. All calls with one idempotency key rent at most one
// instance. If the instance exists already, CreateInstance returns it, and replay is not NotReplayed. After
// IsOutcomeUnknown, repeat the call with the same key before anything else.
//
// A response that cannot be decoded is an error, but the instance is rented: if created.ID is not empty beside an
// error, save it. The other fields are then those that could be decoded.
//
// Errors: IsInsufficientFunds (Error.ShortKop), IsForbidden with Error.Reason email_not_verified, IsNotFound (offer or
// template), IsConflict (the price changed, or a limit is reached), IsValidation, IsUnavailable.
func (c *Client) CreateInstance(
	ctx context.Context, idempotencyKey string, instance InstanceCreate,
) (created Instance, replay Replay, err error) {
	req := request{
		method: http.MethodPost, path: []string{"instances"}, scope: ScopeInstancesWrite, body: instance,
		idempotency: idempotentKey, idempotencyKey: idempotencyKey, success: []int{http.StatusCreated, http.StatusOK},
	}
	replay, err = c.do(ctx, req, &created)
	if err != nil && created.ID == "" {
		return Instance{}, NotReplayed, err
	}
	return created, replay, err
}

// Replay is whether a create request returned an instance that was rented before.
type Replay int

// The values of Replay.
const (
	NotReplayed Replay = iota
	// ReplayedAfterLoss: the same call may have rented it, in an attempt whose response was lost.
	ReplayedAfterLoss
	// Replayed: an earlier call has rented it.
	Replayed
)

// GetInstance returns one instance, also a destroyed one. Scope: instances:read.
func (c *Client) GetInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{
		method: http.MethodGet, path: []string{"instances", id}, scope: ScopeInstancesRead, wantID: id,
	})
}

// UpdateInstance renames an instance. Scope: instances:write.
func (c *Client) UpdateInstance(ctx context.Context, id string, update InstanceUpdate) (Instance, error) {
	return fetch[Instance](ctx, c, request{
		method: http.MethodPatch, path: []string{"instances", id}, scope: ScopeInstancesWrite, body: update, wantID: id,
	})
}

// StartInstance starts a stopped instance, or bids again for an outbid one. Scope: instances:write. The returned status
// may be out of date. The error is IsInsufficientFunds if the balance does not cover two hours, and IsConflict if the
// status does not allow it; after a lost response, a retry can return IsConflict, too.
func (c *Client) StartInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{
		method: http.MethodPost, path: []string{"instances", id, "start"}, scope: ScopeInstancesWrite, wantID: id,
	})
}

// StopInstance stops a running instance; its disk is still billed. Scope: instances:write. The error is IsConflict if
// the status does not allow it.
func (c *Client) StopInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{
		method: http.MethodPost, path: []string{"instances", id, "stop"}, scope: ScopeInstancesWrite, wantID: id,
	})
}

// DeleteInstance destroys an instance with its disk and returns it with status destroying. Scope: instances:write. The
// error is IsConflict if it is destroying or destroyed, even after a retry if the first response was lost.
func (c *Client) DeleteInstance(ctx context.Context, id string) (Instance, error) {
	return fetch[Instance](ctx, c, request{
		method: http.MethodDelete, path: []string{"instances", id}, scope: ScopeInstancesWrite, wantID: id,
	})
}

// GetInstanceLogs returns the last lines of the startup log. Scope: instances:read. tail is 1 to 1000.
func (c *Client) GetInstanceLogs(ctx context.Context, id string, tail int64) ([]string, error) {
	logs, err := fetch[struct {
		Lines []string `json:"lines"`
	}](ctx, c, request{
		method: http.MethodGet, path: []string{"instances", id, "logs"}, scope: ScopeInstancesRead,
		query: url.Values{"tail": {strconv.FormatInt(tail, 10)}},
	})
	return logs.Lines, err
}
