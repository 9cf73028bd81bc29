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

// Simulator is a simulated Rental Service with one account, one market and one clock. Its methods are safe for
// concurrent use.
type Simulator struct {
	config  Config
	log     hclog.Logger
	handler http.Handler
	// requestSeq numbers requests. It is separate from the ids of the engine, which must not depend on the number of
	// requests.
	requestSeq  atomic.Uint64
	requestMark uint32

	// ports are those of the listeners, or of the last ones before a restart. Only [Start] changes them.
	ports ports
	saves saves

	mu       sync.Mutex // guards the fields below
	clock    *clock
	engine   *engine
	rates    rates
	limiter  limiter
	faults   faultInjector
	requests requestLog
}

// New creates a simulator without a listener. It returns an error if the configuration is invalid or the state file
// cannot be read. Only a [Server] writes that file.
func New(c Config) (*Simulator, error) {
	s, err := open(c)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	return s, nil
}

// open creates a new simulator, or one from the state file.
func open(c Config) (*Simulator, error) {
	var saved *savedState
	var err error
	if c.State != "" {
		if saved, err = readState(c.State); err != nil {
			return nil, err
		}
	}
	if saved != nil {
		if c, err = c.withSavedState(saved); err != nil {
			return nil, err
		}
	}
	if c, err = c.withDefaults(); err != nil {
		return nil, err
	}
	s := &Simulator{config: c, log: c.Log, requestMark: rand.Uint32()}
	s.handler = s.newHandler()
	if saved == nil {
		s.clock = newClock(c, c.Start)
		s.resetState()
		return s, nil
	}
	s.clock = newClock(c, saved.Records.Now)
	if err := s.restore(saved); err != nil {
		return nil, fmt.Errorf("state file %s: is damaged: %w", c.State, err)
	}
	s.log.Info("seed, market and API key are read from the state file", "state", c.State, "seed", c.Seed, "now",
		saved.Records.Now)
	return s, nil
}

// resetState sets the initial state of everything but the clock and the configuration.
func (s *Simulator) resetState() {
	s.engine = newEngine(&s.config, s.clock.now())
	s.rates = rates{defaultPerKey, defaultPerAddress}
	s.limiter = limiter{}
	s.faults = faultInjector{Dice: newDice(s.config.Seed, 3)}
	s.requests = requestLog{}
}

// newHandler returns the handler of the API, the control API and the console. It does not use ServeMux, which redirects
// unclean paths where the API returns 404.
func (s *Simulator) newHandler() http.Handler {
	var service http.Handler = http.HandlerFunc(s.serveOperation)
	if s.config.Wrap != nil {
		service = s.config.Wrap(service)
	}
	pages := console.New(consoleService{s}, console.Options{
		Guard:   isLocal,
		Russian: func(acceptLanguage string) bool { return parseLanguage(acceptLanguage) == russian },
		Log:     s.log,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.saves.requests.Add(1)
		switch path := r.URL.EscapedPath(); {
		case hasPathPrefix(path, basePath):
			s.serveAPI(service, w, r)
		case hasPathPrefix(path, controlPath):
			s.serveControl(w, r)
		case isRebound(r):
			http.Error(w, "The host name must be a loopback name.", http.StatusForbidden)
		case hasPathPrefix(path, serversPath):
			s.servePage(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}

func hasPathPrefix(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// Handler returns the handler of the API, the control API and the console.
func (s *Simulator) Handler() http.Handler { return s.handler }

// catchUp runs all events up to the current time. The caller holds the lock.
func (s *Simulator) catchUp() { s.engine.advanceTo(s.clock.now()) }

// Now returns the simulated time.
func (s *Simulator) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.now()
}

// Advance moves any clock by d, runs all events up to then, and returns the new time. A negative d moves nothing. The
// clock stops at the beginning of 2200.
func (s *Simulator) Advance(d time.Duration) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.advance(d)
	s.catchUp()
	return s.engine.Now
}

// Reset restores the initial state of the seed: the account, the offers and the rate limits, without faults and
// requests. The API key and the time stay unchanged.
func (s *Simulator) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resetState()
}

func (s *Simulator) nextRequestID() string {
	return fmt.Sprintf("req_%08x%08x", s.requestMark, s.requestSeq.Add(1))
}
