// Package lifecycle moves instances to their desired state: it starts, stops and destroys them and waits until they are
// there. It is about instances and requests of the API and does not depend on Terraform.
package lifecycle

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Manager starts, stops and destroys instances. All waits share one poller. It is safe for concurrent use.
type Manager struct {
	client       *rental.Client
	templates    func(ctx context.Context, slug string) (rental.Template, bool, error)
	pollInterval time.Duration
	poller       Poller
	network      network
	logs         logBudget
}

// New returns a Manager. templates finds a template by its slug; pollInterval is the first pause between two reads of
// an instance that is changing.
func New(
	client *rental.Client,
	templates func(context.Context, string) (rental.Template, bool, error),
	pollInterval time.Duration,
) *Manager {
	return &Manager{
		client: client, templates: templates, pollInterval: pollInterval, poller: Poller{client: client},
		network: newNetwork(),
	}
}

// Get reads an instance. Simultaneous calls share a request.
func (m *Manager) Get(ctx context.Context, id string) (rental.Instance, error) {
	return m.poller.Get(ctx, id)
}

const (
	pauseGrowth = 1.3
	// longestPause is the longest pause between two reads, in poll intervals.
	longestPause = 6
	// pauseJitter keeps processes that started together from reading at the same time.
	pauseJitter = 0.1
)

// pauses returns the pauses between the reads of a wait.
func (m *Manager) pauses() backoff.Exponential {
	return backoff.Exponential{
		First: m.pollInterval, Max: longestPause * m.pollInterval, Factor: pauseGrowth, Jitter: pauseJitter,
	}
}
