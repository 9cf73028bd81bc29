package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Values of [Config.Clock].
const (
	ClockReal   = "real"
	ClockManual = "manual"
)

// Values of [Config.Market].
const (
	MarketMoving = "moving"
	MarketStill  = "still"
)

// maxMarketScale limits memory: it is about a hundred thousand offers.
const maxMarketScale = 1000

const (
	defaultListen = "127.0.0.1:0"
	defaultBoot   = 8 * time.Second
)

// Config configures a simulator. The zero value is valid: a real clock, seed 0 and a generated API key.
type Config struct {
	// Listen is the host:port that [Start] listens on. The default is 127.0.0.1 and a free port.
	Listen string
	// Seed determines the offers and all generated ids. Every value is valid.
	Seed uint64
	// Clock is "real" (the default) or "manual". Only [Simulator.Advance], POST /control/clock and Step move a manual
	// clock.
	Clock string
	// Start is the initial time of a manual clock, from 1970 to 2200. The zero time means now, which is also the
	// initial time of a real clock. All clocks stop at the beginning of 2200.
	Start time.Time
	// TimeScale is simulated seconds per real second of a real clock, from 0.001 to 1,000,000. 0 means 1.
	TimeScale float64
	// Step advances a manual clock before each API request, so that polling clients make progress without waiting. At
	// most ten years; 0 means no advance.
	Step time.Duration
	// Boot is the time from creation to running, at most 365 days. 0 means 8 s. The SSH and web addresses follow after
	// another 20% of Boot.
	Boot time.Duration
	// Market is "moving" (the default) or "still". A moving market changes prices and availability over time, as
	// determined by the seed. A still market changes only through rentals and [Simulator.SetOffer].
	Market string
	// MarketScale multiplies the number of offers, at most by 1000. 0 means 1.
	MarketScale int
	// State is a file that keeps the state across restarts. "" keeps nothing. The file overrides Seed, APIKey, Start and
	// Market.
	State string
	// Reachable makes the addresses of running instances addresses of this machine that answer. Only [Start] uses it.
	Reachable bool
	// servers are these addresses; nil without Reachable.
	servers *serverAddresses
	// APIKey is the secret of the account's first key, which has all scopes: a 4-character prefix and 40 letters or
	// digits, and white space around them, which is removed. "" generates one.
	APIKey string
	// Log receives the log; nil discards it. Secrets are never logged.
	Log hclog.Logger
	// Wrap wraps the service under /api/v1, for example with a contract check; nil means no wrapper. Faults are applied
	// outside of it, because a proxy or network could cause them. The wrapper must pass on the context of the request.
	Wrap func(http.Handler) http.Handler
	// Hooks is nil except in tests.
	Hooks Hooks
}

// Validate returns an error if a field is invalid. It does not check the state file or the address.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns the configuration with all defaults, or an error if a field is invalid.
func (c Config) withDefaults() (Config, error) {
	for _, option := range []struct {
		name    string
		value   *string
		allowed []string // the first one is the default
	}{
		{"clock", &c.Clock, []string{ClockReal, ClockManual}},
		{"market", &c.Market, []string{MarketMoving, MarketStill}},
	} {
		*option.value = cmp.Or(*option.value, option.allowed[0])
		if !slices.Contains(option.allowed, *option.value) {
			allowed := `"` + strings.Join(option.allowed, `" or "`) + `"`
			return c, fmt.Errorf("%s %q: must be %s", option.name, *option.value, allowed)
		}
	}
	c.MarketScale = cmp.Or(c.MarketScale, 1)
	if c.MarketScale < 0 || c.MarketScale > maxMarketScale {
		return c, fmt.Errorf("market scale %d: must be 1 to %d", c.MarketScale, maxMarketScale)
	}
	c.Listen = cmp.Or(c.Listen, defaultListen)
	if err := c.setClockDefaults(); err != nil {
		return c, err
	}
	c.APIKey = strings.TrimSpace(c.APIKey)
	if c.APIKey == "" {
		c.APIKey = newAPISecret()
	}
	if !validSecret(c.APIKey) {
		return c, fmt.Errorf("API key: must be a %d-character prefix and %d letters or digits", secretPrefixLen,
			secretBodyLen)
	}
	if c.Hooks == nil {
		c.Hooks = noHooks{}
	}
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	return c, nil
}
