package simulator

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// Simulator is a Rental Service of its own: one account, one market, one clock. Its methods may be called from any
// goroutine, also while it serves.
type Simulator struct {
	config  Config
	log     hclog.Logger
	handler http.Handler
	// requestSeq numbers requests; it is apart from the ids of the world, which must not depend on how often a client asks.
	requestSeq  atomic.Uint64
	requestMark uint32

	// store is the state file, nil without one.
	store *store

	mu       sync.Mutex // guards what follows
	clock    clock
	world    *world
	rates    rates
	limiter  *limiter
	faults   *faultPlan
	quirks   *quirkSet
	requests requestLog
}

// New makes a simulator without a listener. It fails when the configuration is wrong, or when the state file cannot be
// read or written.
func New(c Config) (*Simulator, error) {
	s, err := open(c)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	s.handler = s.mount()
	return s, nil
}

// open makes the simulator that the configuration means: a new one, or the one in the state file.
func open(c Config) (*Simulator, error) {
	var saved *savedState
	var err error
	if c.State != "" {
		if saved, err = readState(c.State); err != nil {
			return nil, err
		}
	}
	if saved != nil {
		if c, err = c.resumed(saved); err != nil {
			return nil, err
		}
	}
	if c, err = c.withDefaults(); err != nil {
		return nil, err
	}
	s := &Simulator{config: c, log: c.Log, requestMark: rand.Uint32(), clock: newClock(c)}
	if c.State != "" {
		s.store = newStore(c.State)
	}
	if saved == nil {
		s.begin()
		return s, s.persist()
	}
	s.clock = resumeClock(c, saved.Until)
	if err := s.restore(saved); err != nil {
		return nil, fmt.Errorf("state file %s: is damaged: %w", c.State, err)
	}
	s.log.Info("the state file decides seed, market and API key", "state", c.State, "seed", c.Seed, "now", saved.Until)
	return s, s.persist()
}

// origin is what a first state as of an instant follows from.
func (s *Simulator) origin(at time.Time) origin {
	c := s.config
	return origin{c.Seed, c.MarketScale, c.Market == MarketMoving, at, c.Boot, c.APIKey}
}

// begin puts everything but the clock and the configuration into its first state.
func (s *Simulator) begin() {
	s.world = newWorld(s.origin(s.clock.now()))
	s.rates = rates{defaultPerKey, defaultPerAddress}
	s.limiter = s.config.newLimiter()
	s.faults = newFaultPlan(s.config.Seed)
	s.setQuirks(s.config.Quirks)
	s.requests = requestLog{}
}

// mount puts the three faces side by side. It does without a ServeMux, which would redirect paths it finds unclean
// where the API answers 404.
func (s *Simulator) mount() http.Handler {
	var service http.Handler = http.HandlerFunc(s.serveService)
	if s.config.Wrap != nil {
		service = s.config.Wrap(service)
	}
	control := http.HandlerFunc(s.serveControl)
	pages := console.New(consoleService{s}, console.Options{
		Guard:   fromThisMachine,
		Russian: func(acceptLanguage string) bool { return parseLanguage(acceptLanguage) == russian },
		Log:     s.log,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.EscapedPath(); {
		case below(path, basePath):
			s.serveFront(service, w, r)
		case below(path, controlPath):
			control.ServeHTTP(w, r)
		case rebound(r):
			http.Error(w, "These pages are not for a page of another name.", http.StatusForbidden)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// Handler serves the API, the control API and the console.
func (s *Simulator) Handler() http.Handler { return s.handler }

// catchUp lets everything happen that is due by the clock. The lock is held.
func (s *Simulator) catchUp() { s.world.advanceTo(s.clock.now()) }

// Now returns the simulated time.
func (s *Simulator) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.now()
}

// Advance moves the simulated time of any clock and returns it; all that was due has happened then. Time does not go
// back: a negative d moves nothing. It ends at the beginning of 2200: a d beyond that moves the clock to its end.
func (s *Simulator) Advance(d time.Duration) time.Time {
	s.mu.Lock()
	at := s.moveClock(d)
	s.mu.Unlock()
	s.persistQuietly()
	return at
}

// advance is like Advance, but refuses to pass the end of time.
func (s *Simulator) advance(d time.Duration) (time.Time, error) {
	s.mu.Lock()
	left := clockEnd.Sub(s.clock.now())
	if d > left {
		s.mu.Unlock()
		return time.Time{}, invalid("advance_seconds", textClockEnd.with(clockEnd.Format(time.RFC3339), int64(left/time.Second)))
	}
	at := s.moveClock(d)
	s.mu.Unlock()
	s.persistQuietly()
	return at, nil
}

// moveClock lets time pass with all that is due in it. The lock is held.
func (s *Simulator) moveClock(d time.Duration) time.Time {
	s.clock.advance(d)
	s.catchUp()
	return s.world.at
}

// Reset returns to the seed's first state: the account, the offers, the limits, the configured quirks, no faults, no
// requests. The API key stays the configured one, and time goes on from where it is.
func (s *Simulator) Reset() error {
	s.mu.Lock()
	s.begin()
	s.mu.Unlock()
	return s.persist()
}

func (s *Simulator) nextRequestID() string {
	return fmt.Sprintf("req_%08x%08x", s.requestMark, s.requestSeq.Add(1))
}
