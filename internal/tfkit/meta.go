// Package tfkit has the Terraform helpers that service packages share: the base of each kind of type, the configured
// provider, diagnostics, and conversions of values.
package tfkit

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Meta is the data of a configured provider that each of its resources and data sources receives.
type Meta struct {
	// Client sends requests to the API. It is nil at plan while the address of the API is unknown.
	Client *rental.Client
	// KeyUnknown is true while the API key depends on an object that does not exist. Client has no key then.
	KeyUnknown bool
	// KeyStart is the beginning of the API key, which identifies the key in a list but does not grant access. Empty
	// without a key.
	KeyStart string
	// PollInterval is the first pause between two reads of an object that is changing.
	PollInterval time.Duration
	// IdempotencyPrefix and the name make the idempotency key of an instance without one: see lifecycle.ChosenName. Null
	// without a prefix; it can be unknown at plan.
	IdempotencyPrefix types.String
	// RecoverWithin is the maximum age of an instance that a creation takes under a chosen key: see lifecycle.Order.
	RecoverWithin time.Duration
	// Cleanup undoes creations before the process ends. All provider configurations of a process share it.
	Cleanup *Cleanup
	// Owners is that of Lifecycle, even without a Client.
	Owners lifecycle.Owners

	// The resources of this configuration share these. All are nil without a Client.
	Cache     *rental.Cache
	Market    *market.Market
	Lifecycle *lifecycle.Manager
	Spending  *spending.Account

	account rental.Cached[rental.User]
}

// SetClient sets the client and the fields that depend on it. The caller sets PollInterval before.
func (m *Meta) SetClient(client *rental.Client, limits spending.Limits) {
	m.Client = client
	m.Cache = rental.NewCache(client)
	m.Spending = spending.NewAccount(limits, client)
	m.Lifecycle = lifecycle.New(lifecycle.Config{
		Client: client, Template: m.Cache.Templates.Find, PollInterval: m.PollInterval, Account: m.Spending,
		Owners: &m.Owners,
	})
	m.Market = market.New(m.Cache, m.Lifecycle, m.PollInterval)
}

// accountAge is how old the account may be when a plan uses it. Many resources share one request, and a process that
// serves many runs notices within this time that the account has changed.
const accountAge = time.Minute

// Account returns the account of the API key. IsForbidden reports that the key may not read it.
func (m *Meta) Account(ctx context.Context) (rental.User, error) {
	return m.account.Get(ctx, accountAge, 1, m.Client.GetMe) // 1: with retries, unlike the first request of origin
}

// Ready reports whether requests that need an API key can be sent.
func (m *Meta) Ready() bool { return m != nil && m.Client != nil && !m.KeyUnknown }

// Owns reports whether prefix, the first characters of an API key, may belong to the key that the provider itself uses.
// The API does not guarantee how many characters it returns.
func (m *Meta) Owns(prefix string) bool {
	return prefix != "" && m.KeyStart != "" && strings.HasPrefix(m.KeyStart, KeyStart(prefix))
}

// KeyStart returns the part of an API key that Meta may keep.
func KeyStart(key string) string { return key[:min(len(key), rental.KeyPrefixLength)] }
