package simulator

import (
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
)

// The two kinds of clock a [Config] can name.
const (
	ClockReal   = "real"
	ClockManual = "manual"
)

// The two kinds of market a [Config] can name.
const (
	MarketMoving = "moving"
	MarketStill  = "still"
)

// The two ways in which a [Config] can count requests.
const (
	LimiterWindow = "window"
	LimiterBucket = "bucket"
)

// The two ways in which a [Config] can tell when the limit is there again.
const (
	ResetSeconds = "seconds"
	ResetEpoch   = "epoch"
)

// maxMarketScale keeps a market in memory: about a hundred thousand servers.
const maxMarketScale = 1000

const (
	defaultListen = "127.0.0.1:0"
	defaultBoot   = 8 * time.Second
)

// Config says what a simulator is like. The zero value is a working one: a real clock, seed 0, a generated key.
type Config struct {
	// Listen is the address of [Start], host:port; "" means 127.0.0.1 and a free port.
	Listen string
	// Seed decides the offers and every generated id. Any value, 0 included, is a seed.
	Seed uint64
	// Clock is "real" (or "") or "manual". A manual clock moves only by [Simulator.Advance], POST /control/clock and Step.
	Clock string
	// Start is the first instant of a manual clock, from 1970 to 2200; zero means the moment of creation. A real clock
	// starts now. Any clock stops at the beginning of 2200.
	Start time.Time
	// TimeScale is simulated seconds per real second of a real clock, 0.001 to 1,000,000; 0 means 1.
	TimeScale float64
	// Step is how far every API request moves a manual clock before it is served, so that a client that polls makes
	// progress without waiting, at most ten years; 0 leaves the clock alone.
	Step time.Duration
	// Boot is the time from creation to running, at most 365 days; 0 means 8 s. SSH and web addresses follow 20% of Boot later.
	Boot time.Duration
	// Market is "moving" (or ""): prices and availability drift with time and hosts fail, all by the seed; or "still":
	// then only rentals and [Simulator.SetOffer] change it.
	Market string
	// MarketScale is how many times the usual number of servers the market has; 0 means 1.
	MarketScale int
	// Limiter is "window" (or ""): the limit is there anew a minute after the first request of the last minute; or "bucket":
	// what was spent comes back evenly, the whole limit within a minute. The first minute's worth may be spent at once in both.
	Limiter string
	// RateReset is how X-RateLimit-Reset tells when the whole limit is there again: in "seconds" (or ""), or as an "epoch",
	// the seconds since 1970 at that moment.
	RateReset string
	// State is a file that holds the simulator across restarts; "" keeps nothing. What it holds wins over Seed, APIKey,
	// Start, Market and MarketScale.
	State string
	// Quirks names the freedoms of the API document that are switched on at first; "all" is every one.
	Quirks []string
	// APIKey is the secret of the account's first key, which has every scope: a 4-character prefix and 40 letters or
	// digits. "" generates one.
	APIKey string
	// Log receives what the simulator has to say; nil discards it. No secret is ever logged.
	Log hclog.Logger
	// Wrap goes around the service under /api/v1 and nothing else; nil wraps nothing. Faults and quirks are outside of
	// it, as the network is: what a fault answers is not the service's word. The wrapper must hand on the request's context.
	Wrap func(http.Handler) http.Handler
}

// Validate says what is wrong with the configuration itself; nil means that only the machine or the state file can stand
// in the way of a start.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns the configuration with every default in place, or says what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	switch c.Clock {
	case "":
		c.Clock = ClockReal
	case ClockReal, ClockManual:
	default:
		return c, fmt.Errorf("clock %q: must be %q or %q", c.Clock, ClockReal, ClockManual)
	}
	switch c.Market {
	case "":
		c.Market = MarketMoving
	case MarketMoving, MarketStill:
	default:
		return c, fmt.Errorf("market %q: must be %q or %q", c.Market, MarketMoving, MarketStill)
	}
	if err := c.withLimits(); err != nil {
		return c, err
	}
	if c.MarketScale == 0 {
		c.MarketScale = 1
	}
	if c.MarketScale < 0 || c.MarketScale > maxMarketScale {
		return c, fmt.Errorf("market scale %d: must be 1 to %d", c.MarketScale, maxMarketScale)
	}
	if c.Listen == "" {
		c.Listen = defaultListen
	}
	if err := c.withTimes(); err != nil {
		return c, err
	}
	quirks, err := expandQuirks(c.Quirks)
	if err != nil {
		return c, err
	}
	c.Quirks = quirks
	if c.APIKey == "" {
		c.APIKey = newAPISecret()
	}
	if !wellFormedSecret(c.APIKey) {
		return c, fmt.Errorf("API key: must be a %d-character prefix and %d letters or digits", secretPrefixLen, secretBodyLen)
	}
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	return c, nil
}

// withLimits puts the defaults of the request limit in place, or says what is wrong with it.
func (c *Config) withLimits() error {
	if c.Limiter == "" {
		c.Limiter = LimiterWindow
	}
	if c.RateReset == "" {
		c.RateReset = ResetSeconds
	}
	if c.Limiter != LimiterWindow && c.Limiter != LimiterBucket {
		return fmt.Errorf("limiter %q: must be %q or %q", c.Limiter, LimiterWindow, LimiterBucket)
	}
	if c.RateReset != ResetSeconds && c.RateReset != ResetEpoch {
		return fmt.Errorf("rate reset %q: must be %q or %q", c.RateReset, ResetSeconds, ResetEpoch)
	}
	return nil
}
