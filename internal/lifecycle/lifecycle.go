// Package lifecycle has the life of one instance: it is rented exactly once under an idempotency key, moved to its
// desired state, and destroyed. It keeps two objects from having one instance. It is about instances and requests of
// the API and does not depend on Terraform. All prices are kopecks per hour.
package lifecycle

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Manager rents, starts, stops and destroys instances. All waits share one poller. It is safe for concurrent use.
type Manager struct {
	Config
	poller
	network network
	logs    *rate.Limiter // limits the reads of logs by all waits
	rentals chan struct{} // limits the creations in flight
}

// Config configures a Manager.
type Config struct {
	Client *rental.Client
	// Template finds a template by its slug.
	Template func(ctx context.Context, slug string) (rental.Template, bool, error)
	// PollInterval is the first pause between two reads of an instance that is changing.
	PollInterval time.Duration
	Account      *spending.Account
	// Owners records which objects of this process have which instances.
	Owners *Owners
}

// New returns a Manager.
func New(config Config) *Manager {
	return &Manager{
		Config: config, poller: poller{client: config.Client}, network: newNetwork(),
		logs:    rate.NewLimiter(logsPerSecond, logBurst),
		rentals: make(chan struct{}, maxRentals),
	}
}

const (
	pauseGrowth = 1.3
	// longestPause is the longest pause, in poll intervals.
	longestPause = 6
	// pauseJitter keeps processes that started together from sending requests at the same time.
	pauseJitter = 0.1
)

// pauses returns the pauses between the reads of a wait, and between the attempts of a request.
func (m *Manager) pauses() backoff.Exponential {
	return backoff.Exponential{
		First: m.PollInterval, Max: longestPause * m.PollInterval, Factor: pauseGrowth, Jitter: pauseJitter,
	}
}
