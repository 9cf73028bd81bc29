package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// clockResolution is the resolution of simulated time. Billing is exact at this resolution, so costs do not depend on
// when they are read.
const clockResolution = time.Millisecond

// Simulated time lies between these two instants, so that any difference fits a time.Duration (292 years). A clock
// stops at clockEnd.
var (
	clockBegin = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	clockEnd   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Bounds of the durations of a Config.
const (
	minTimeScale = 0.001
	maxTimeScale = 1_000_000
	maxBoot      = 365 * 24 * time.Hour
	maxStep      = maxAdvance * time.Second
)

// setClockDefaults sets the defaults of the clock and validates its fields.
func (c *Config) setClockDefaults() error {
	c.TimeScale, c.Boot = cmp.Or(c.TimeScale, 1), cmp.Or(c.Boot, defaultBoot)
	if !(c.TimeScale >= minTimeScale && c.TimeScale <= maxTimeScale) { // also false for NaN
		return fmt.Errorf("time scale %v: must be %v to %d", c.TimeScale, minTimeScale, maxTimeScale)
	}
	if c.Boot < 0 || c.Boot > maxBoot {
		return fmt.Errorf("boot %v: must be 0 to %v", c.Boot, maxBoot)
	}
	if c.Step < 0 || c.Step > maxStep {
		return fmt.Errorf("step %v: must be 0 to %v", c.Step, maxStep)
	}
	if !c.Start.IsZero() && (c.Start.Before(clockBegin) || c.Start.After(clockEnd)) {
		return fmt.Errorf("start %v: must be %v to %v", c.Start, clockBegin, clockEnd)
	}
	if c.Clock == ClockReal && (c.Step != 0 || !c.Start.IsZero()) {
		return errors.New("step and start: only a manual clock has them")
	}
	if c.Clock == ClockManual && c.TimeScale != 1 {
		return errors.New("time scale: only a real clock has one")
	}
	if c.Start.IsZero() {
		c.Start = time.Now()
		if c.Clock == ClockManual {
			c.Start = c.Start.Truncate(time.Second)
		}
	}
	return nil
}

// clock is the source of simulated time. A real clock follows the monotonic clock of the machine, scaled. A manual
// clock has the scale 0, so that it moves only with advance and step. Time never goes back and stops at clockEnd. The
// simulator's lock guards it.
type clock struct {
	// start is the machine's time at the simulated time from.
	start time.Time
	from  time.Time
	scale float64
	// every is how far step moves the clock.
	every time.Duration
	// skipped is the sum of all moves, limited to clockEnd.
	skipped time.Duration
}

// newClock returns a clock that starts at an instant. Simulated time does not pass while no simulator runs.
func newClock(c Config, from time.Time) *clock {
	k := &clock{start: time.Now(), from: from.UTC().Round(0), scale: c.TimeScale, every: c.Step}
	if c.Clock == ClockManual {
		k.scale = 0
	}
	if k.from.Before(clockBegin) {
		k.from = clockBegin
	}
	if k.from.After(clockEnd) {
		k.from = clockEnd
	}
	return k
}

// left is the time from the last move to clockEnd, without the real time that passed.
func (c *clock) left() time.Duration { return clockEnd.Sub(c.from) - c.skipped }

func (c *clock) now() time.Time {
	// A float64 does not overflow where a time.Duration does.
	passed := float64(time.Since(c.start)) * c.scale
	if passed >= float64(c.left()) {
		return clockEnd
	}
	return c.from.Add(time.Duration(passed) + c.skipped).Truncate(clockResolution)
}

// advance moves the clock by d, at most to clockEnd.
func (c *clock) advance(d time.Duration) { c.skipped += min(max(d, 0), c.left()) }

// step is called before each API request.
func (c *clock) step() { c.advance(c.every) }
