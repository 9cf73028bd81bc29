package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

// The name and the version of the state file format. Increment the version when the saved data or the generated offers
// change.
const (
	stateFormat  = "gpurent-simulator"
	stateVersion = 4
)

// savedState is the content of the state file. It does not contain data that the seed determines.
type savedState struct {
	Format  string
	Version int

	Seed   uint64
	Market string
	// APIKey is the secret of the first key, so that it is valid after a restart.
	APIKey string

	At    time.Time // the simulated time of the saved state
	Began time.Time
	Seq   int64
	IDs   []byte
	Moves int64

	Account   account
	Ledger    []*entry
	Keys      []*apiKey
	SSHKeys   []*sshKey
	Devices   []*deviceLogin
	Templates []*template
	Instances []*instance
	// Replayed are instance ids by Idempotency-Key. Offers are by offer id.
	Replayed map[string]string
	Offers   map[string]offerState

	Ports              ports
	PerKey, PerAddress int
	Faults             []*activeFault
	FaultDice          []byte
}

// ports are the ports of the listeners; 0 for none.
type ports struct{ API, SSH int }

// snapshot returns the state to save. The caller holds the lock.
func (s *Simulator) snapshot() (savedState, error) {
	w := s.engine
	ids, err := w.idsPCG.MarshalBinary()
	if err != nil {
		return savedState{}, err
	}
	dice, err := s.faults.pcg.MarshalBinary()
	if err != nil {
		return savedState{}, err
	}
	saved := savedState{
		Format: stateFormat, Version: stateVersion,
		Seed: s.config.Seed, Market: s.config.Market, APIKey: s.config.APIKey,
		At: w.now, Began: w.startedAt, Seq: w.seq, IDs: ids, Moves: w.priceChanges,
		Account: w.account, Ledger: w.ledger, Keys: w.keys, SSHKeys: w.sshKeys, Devices: w.devices,
		Instances: w.instances,
		Replayed:  make(map[string]string, len(w.byIdempotencyKey)), Offers: make(map[string]offerState, len(w.offers)),
		Ports:  s.ports,
		PerKey: s.rates.perKey, PerAddress: s.rates.perAddress, Faults: s.faults.faults, FaultDice: dice,
	}
	for _, t := range w.templates {
		if t.Owner == ownerMe {
			saved.Templates = append(saved.Templates, t)
		}
	}
	for key, i := range w.byIdempotencyKey {
		saved.Replayed[key] = i.ID
	}
	for _, o := range w.offers {
		saved.Offers[o.ID] = o.offerState
	}
	return saved, nil
}

// saves are the saves of a state file.
type saves struct {
	// requests is the number of requests so far.
	requests atomic.Int64
	mu       sync.Mutex // held by a save
	closed   bool       // no more saves: another simulator may use the file
	// saved is the number of requests before the last save.
	saved int64
}

// saveInterval is the minimum time between the saves after requests that only read, whose effect is the passage of
// time.
const saveInterval = time.Second

// keepSaved saves the state after requests, until the context ends.
func (s *Simulator) keepSaved(ctx context.Context) {
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.saveUpTo(s.saves.requests.Load())
		}
	}
}

// saveUpTo saves the state, unless it was saved after the given number of requests: concurrent requests share a save.
func (s *Simulator) saveUpTo(request int64) {
	s.saves.mu.Lock()
	defer s.saves.mu.Unlock()
	if request <= s.saves.saved || s.saves.closed {
		return
	}
	latest := s.saves.requests.Load()
	if err := s.save(); err != nil {
		s.log.Error("a change has happened, but is not saved", "error", err)
		return
	}
	s.saves.saved = latest
}

// savingWriter saves the state before the response, so that a killed simulator loses no change with a response.
type savingWriter struct {
	http.ResponseWriter
	simulator *Simulator
}

func (w savingWriter) WriteHeader(status int) {
	w.simulator.saveUpTo(w.simulator.saves.requests.Add(1))
	w.ResponseWriter.WriteHeader(status)
}

// saveChanges returns a handler whose responses to requests that can change something follow a save.
func (s *Simulator) saveChanges(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w = savingWriter{w, s}
		}
		next.ServeHTTP(w, r)
	})
}

// save replaces the state file, if the simulator has one. The file is complete at any moment, even if the process is
// killed. Only its owner can read it, because it contains the API key.
func (s *Simulator) save() error {
	if s.config.State == "" {
		return nil
	}
	if err := s.replaceState(s.config.State); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}

func (s *Simulator) replaceState(file string) error {
	raw, err := s.encodeState()
	if err != nil {
		return err
	}
	next := file + ".next"
	if err := atomicfile.WriteNew(next, raw, false); err != nil {
		return err
	}
	return atomicfile.Rename(next, file)
}

func (s *Simulator) encodeState() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	saved, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	return json.Marshal(saved)
}

// readState reads a state file. It returns nil if there is none.
func readState(file string) (*savedState, error) {
	raw, err := atomicfile.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state file: %w", err)
	}
	var head struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Format != stateFormat {
		return nil,
			fmt.Errorf("state file %s: is not a state file of this simulator; name another file, "+
				"or delete it to start afresh", file)
	}
	if head.Version != stateVersion {
		return nil,
			fmt.Errorf("state file %s: has version %d, and this simulator reads version %d; "+
				"use the release that wrote it, "+
				"or name another file to start afresh", file, head.Version, stateVersion)
	}
	saved := &savedState{}
	if err := json.Unmarshal(raw, saved); err != nil {
		return nil, fmt.Errorf("state file %s: is damaged: %w", file, err)
	}
	return saved, nil
}

// withSavedState returns the configuration with the values of the state file.
func (c Config) withSavedState(saved *savedState) (Config, error) {
	if c.APIKey != "" && c.APIKey != saved.APIKey {
		return c, fmt.Errorf("state file %s: belongs to another API key; give that one or none", c.State)
	}
	c.APIKey, c.Seed, c.Market = saved.APIKey, saved.Seed, saved.Market
	return c, nil
}

// restore sets the state of a state file.
func (s *Simulator) restore(saved *savedState) error {
	w := emptyEngine(&s.config, saved.At)
	w.startedAt, w.seq, w.priceChanges = saved.Began, saved.Seq, saved.Moves
	if err := w.idsPCG.UnmarshalBinary(saved.IDs); err != nil {
		return err
	}
	w.account, w.ledger, w.sshKeys, w.devices = saved.Account, saved.Ledger, saved.SSHKeys, saved.Devices
	w.templates = append(w.templates, saved.Templates...)
	for _, k := range saved.Keys {
		w.keepKey(k)
	}
	for _, o := range w.offers {
		state, ok := saved.Offers[o.ID]
		if !ok {
			return fmt.Errorf("offer %s is missing", o.ID)
		}
		o.offerState = state
		w.events.schedule(&o.moveEvent, o.MoveAt)
	}
	if err := w.restoreInstances(saved); err != nil {
		return err
	}
	s.engine, s.ports = w, saved.Ports
	s.rates, s.limiter = rates{saved.PerKey, saved.PerAddress}, limiter{}
	s.faults = newFaultInjector(s.config.Seed)
	s.faults.faults = saved.Faults
	return s.faults.pcg.UnmarshalBinary(saved.FaultDice)
}

func (e *engine) restoreInstances(saved *savedState) error {
	for _, i := range saved.Instances {
		i.offer = e.findOffer(i.OfferID)
		for _, t := range e.templates {
			if t.Slug == i.TemplateSlug {
				i.template = t
			}
		}
		if i.offer == nil || i.template == nil {
			return fmt.Errorf("instance %s refers to an unknown offer or template", i.ID)
		}
		e.unposted.Counted += i.Meter.amount(e.now)
		e.unposted.Rate += i.Meter.Rate
		e.addInstance(i)
	}
	for key, id := range saved.Replayed {
		i := e.findInstance(id)
		if i == nil {
			return fmt.Errorf("idempotency key %q refers to an unknown instance", key)
		}
		e.byIdempotencyKey[key] = i
	}
	return nil
}
