package simulator

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Simulator is a Rental Service of its own: one account, one market, one clock. Its methods may be called from any
// goroutine, also while it serves.
type Simulator struct {
	config  Config
	log     *slog.Logger
	handler http.Handler
	// requestSeq numbers requests; it is apart from the ids of the world, which must not depend on how often a client asks.
	requestSeq  atomic.Uint64
	requestMark uint32
	csrfKey     []byte

	mu       sync.Mutex // guards what follows
	clock    clock
	world    *world
	rates    rates
	limiter  limiter
	faults   *faultPlan
	requests requestLog
}

// New makes a simulator without a listener. It fails only when the configuration is wrong.
func New(c Config) (*Simulator, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	s := &Simulator{config: c, log: c.Log, requestMark: rand.Uint32(), csrfKey: newCSRFKey(), clock: newClock(c)}
	s.begin()
	s.handler = s.mount()
	return s, nil
}

// begin puts everything but the clock and the configuration into its first state.
func (s *Simulator) begin() {
	s.world = newWorld(s.config.Seed, s.clock.now(), s.config.Boot, s.config.APIKey)
	s.rates = rates{defaultPerKey, defaultPerAddress}
	s.limiter = newFixedWindow()
	s.faults = newFaultPlan(s.config.Seed)
	s.requests = requestLog{}
}

// mount puts the three faces side by side. It does without a ServeMux, which would redirect paths it finds unclean
// where the API answers 404.
func (s *Simulator) mount() http.Handler {
	var service http.Handler = http.HandlerFunc(s.serveService)
	if s.config.Wrap != nil {
		service = s.config.Wrap(service)
	}
	control, console := http.HandlerFunc(s.serveControl), http.HandlerFunc(s.serveConsole)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.EscapedPath(); {
		case below(path, basePath):
			s.serveFront(service, w, r)
		case below(path, controlPath):
			control.ServeHTTP(w, r)
		default:
			console.ServeHTTP(w, r)
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
// back: a negative d moves nothing.
func (s *Simulator) Advance(d time.Duration) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.advance(d)
	s.catchUp()
	return s.world.at
}

// Reset returns to the seed's first state: the account, the offers, the limits, no faults, no requests. The API key
// stays the configured one, and time goes on from where it is.
func (s *Simulator) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	return nil
}

func (s *Simulator) nextRequestID() string {
	return fmt.Sprintf("req_%08x%08x", s.requestMark, s.requestSeq.Add(1))
}
