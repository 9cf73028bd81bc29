package simulator

import "time"

// quantum is the finest step of simulated time. Billing is exact at this grain, so when a meter is read never changes
// what it says.
const quantum = time.Millisecond

// clock is where the simulated time comes from. It never goes back. The simulator's lock guards it.
type clock interface {
	now() time.Time
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
	start := time.Now()
	return &realClock{start: start, from: start.UTC().Round(0), scale: c.TimeScale}
}

// resumeClock goes on from an instant: simulated time stands still while nobody simulates.
func resumeClock(c Config, from time.Time) clock {
	if c.Clock == ClockManual {
		return &manualClock{at: from, every: c.Step}
	}
	return &realClock{start: time.Now(), from: from, scale: c.TimeScale}
}

// realClock follows the machine's monotonic clock, scaled, plus what was advanced by hand.
type realClock struct {
	// start is the machine's time when the simulated time was from.
	start   time.Time
	from    time.Time
	scale   float64
	skipped time.Duration
}

func (c *realClock) now() time.Time {
	passed := time.Duration(float64(time.Since(c.start)) * c.scale)
	return c.from.Add(passed + c.skipped).Truncate(quantum)
}

func (c *realClock) advance(d time.Duration) { c.skipped += max(d, 0) }

func (c *realClock) step() {}

// manualClock stands still between calls.
type manualClock struct {
	at    time.Time
	every time.Duration
}

func (c *manualClock) now() time.Time          { return c.at.Truncate(quantum) }
func (c *manualClock) advance(d time.Duration) { c.at = c.at.Add(max(d, 0)) }
func (c *manualClock) step()                   { c.advance(c.every) }
