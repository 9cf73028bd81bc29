package simulator

import (
	"errors"
	"fmt"
	"time"
)

// quantum is the finest step of simulated time. Billing is exact at this grain, so when a meter is read never changes
// what it says.
const quantum = time.Millisecond

// Simulated time lies between these two instants, so that the difference of any two fits a time.Duration, which holds
// 292 years. A clock that reaches its end stands still.
var (
	clockBegin = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	clockEnd   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// The bounds of what a Config says about time.
const (
	minTimeScale = 0.001
	maxTimeScale = 1_000_000
	maxBoot      = 365 * 24 * time.Hour
	maxStep      = maxAdvance * time.Second
)

// withTimes puts the defaults of the clock in place, or says what is wrong with it.
func (c *Config) withTimes() error {
	if c.TimeScale == 0 {
		c.TimeScale = 1
	}
	if c.Boot == 0 {
		c.Boot = defaultBoot
	}
	if !(c.TimeScale >= minTimeScale && c.TimeScale <= maxTimeScale) { // also false for NaN
		return fmt.Errorf("time scale %v: must be %v to %d", c.TimeScale, minTimeScale, maxTimeScale)
	}
	if c.Boot < 0 || c.Boot > maxBoot {
		return fmt.Errorf("boot %v: must be 0 to %v", c.Boot, maxBoot)
	}
	if c.Step < 0 || c.Step > maxStep {
		return fmt.Errorf("step %v: must be 0 to %v", c.Step, maxStep)
	}
	if !c.Start.IsZero() && !inClock(c.Start) {
		return fmt.Errorf("start %v: must be %v to %v", c.Start, clockBegin, clockEnd)
	}
	if c.Clock == ClockReal && (c.Step != 0 || !c.Start.IsZero()) {
		return errors.New("step and start: only a manual clock has them")
	}
	if c.Clock == ClockManual && c.TimeScale != 1 {
		return errors.New("time scale: only a real clock has one")
	}
	return nil
}

// inClock tells whether an instant lies in simulated time.
func inClock(at time.Time) bool { return !at.Before(clockBegin) && !at.After(clockEnd) }

var textClockEnd = text{
	"время симулятора кончается %s, осталось %d с", "simulated time ends at %s, and %d seconds are left",
}

// clock is where the simulated time comes from. It never goes back, and stops at its end. The simulator's lock guards it.
type clock interface {
	now() time.Time
	// advance moves by d, or to the end where that is nearer.
	advance(d time.Duration)
	// step is called once before each API request.
	step()
}

func newClock(c Config) clock {
	if c.Clock == ClockManual {
		start := c.Start
		if start.IsZero() {
			start = time.Now().Truncate(time.Second)
		}
		return &manualClock{at: start.UTC().Truncate(quantum), every: c.Step}
	}
	return newRealClock(c, time.Now())
}

// resumeClock goes on from an instant: simulated time stands still while nobody simulates.
func resumeClock(c Config, from time.Time) clock {
	if c.Clock == ClockManual {
		return &manualClock{at: from, every: c.Step}
	}
	return newRealClock(c, from)
}

// realClock follows the machine's monotonic clock, scaled, plus what was advanced by hand.
type realClock struct {
	// start is the machine's time when the simulated time was from.
	start time.Time
	from  time.Time
	scale float64
	// skipped is at most what is left from from to the end.
	skipped time.Duration
}

func newRealClock(c Config, from time.Time) *realClock {
	from = from.UTC().Round(0)
	if from.Before(clockBegin) {
		from = clockBegin
	}
	if from.After(clockEnd) {
		from = clockEnd
	}
	return &realClock{start: time.Now(), from: from, scale: c.TimeScale}
}

// left is the time from the last advance to the end, as if no real time had passed.
func (c *realClock) left() time.Duration { return clockEnd.Sub(c.from) - c.skipped }

func (c *realClock) now() time.Time {
	// A float64 holds what a time.Duration does not.
	passed := float64(time.Since(c.start)) * c.scale
	if passed >= float64(c.left()) {
		return clockEnd
	}
	return c.from.Add(time.Duration(passed) + c.skipped).Truncate(quantum)
}

func (c *realClock) advance(d time.Duration) { c.skipped += min(max(d, 0), c.left()) }

func (c *realClock) step() {}

// manualClock stands still between calls.
type manualClock struct {
	at    time.Time
	every time.Duration
}

func (c *manualClock) now() time.Time { return c.at.Truncate(quantum) }

func (c *manualClock) advance(d time.Duration) { c.at = c.at.Add(min(max(d, 0), clockEnd.Sub(c.at))) }

func (c *manualClock) step() { c.advance(c.every) }
