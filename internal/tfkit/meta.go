package tfkit

import (
	"strings"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Meta is what the configured provider hands to every resource and data source.
type Meta struct {
	// Client talks to the service. It is nil while the provider's address is not
	// known yet, which happens only at plan.
	Client *rental.Client
	// KeyUnknown is true at plan while the API key comes from something that is
	// itself still to be created or replaced. Client, if any, has no key then.
	KeyUnknown bool
	// KeyStart is how the configured API key begins, enough to recognise it in a
	// listing and too little to use. Empty without a key.
	KeyStart string
	// PollInterval is the first pause between two looks at something that is
	// still changing.
	PollInterval time.Duration
	// Spending says how the money is looked at before it is spent.
	Spending Spending
	// Cleanup is what the process has to undo before it ends. All that is configured
	// in it shares one.
	Cleanup *Cleanup
	// Run tells whether this configuration serves a single plan or apply. Nil means a single one.
	Run *Run

	shared sync.Map // what Shared made, by its type
}

// Spending is the provider's block of that name.
type Spending struct {
	// RequireFunds is one of the Funds constants.
	RequireFunds string
	// MaxBurnKopH is the largest burn rate a plan may lead to, kopecks per hour.
	// 0 allows any.
	MaxBurnKopH int64
}

// What is to happen when the balance does not cover two hours of what a plan starts.
const (
	FundsWarn  = "warn"
	FundsError = "error"
	FundsOff   = "off"
)

// Ready says whether requests that need a key can be made.
func (m *Meta) Ready() bool { return m != nil && m.Client != nil && !m.KeyUnknown }

// Owns says whether the API key with this prefix is the one the provider
// itself uses.
func (m *Meta) Owns(prefix string) bool {
	return m != nil && len(prefix) >= rental.KeyPrefixLength && strings.HasPrefix(m.KeyStart, prefix[:rental.KeyPrefixLength])
}

// KeyStart returns what Meta may keep of a key.
func KeyStart(key string) string { return key[:min(len(key), rental.KeyPrefixLength)] }
