package rental

import (
	"context"
	"iter"
)

// GPUModel is a GPU model with its lowest prices, in kopecks per GPU and hour. A price is nil if there is no offer.
type GPUModel struct {
	Slug                  string `json:"slug"` // for OfferQuery.GPU
	Name                  string `json:"name"`
	VRAMGB                int64  `json:"vram_gb"` // per GPU
	Tier                  string `json:"tier"`
	AvailableGPUs         int64  `json:"available_gpus"`
	FromKopH              *int64 `json:"from_kop_h"` // cheapest on demand
	FromInterruptibleKopH *int64 `json:"from_interruptible_kop_h"`
}

func (m GPUModel) identity() string { return m.Slug }

func (m GPUModel) validate() error { return checkPrices(m.FromKopH, m.FromInterruptibleKopH) }

// ListGPUs lists the GPU models. Public; the API caches the response for 60 seconds.
func (c *Client) ListGPUs(ctx context.Context, options ListOptions) iter.Seq2[GPUModel, error] {
	return list[GPUModel](ctx, c, request{path: []string{"gpus"}, auth: authNone}, options)
}
