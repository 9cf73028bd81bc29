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
	stateVersion = 5
)

// savedState is the content of the state file.
type savedState struct {
	Format  string
	Version int

	Seed   uint64
	Market string
	// APIKey is the secret of the first key, so that it is valid after a restart.
	APIKey string

	Records records
	Ports   ports
	Rates   rates
	Faults  faultInjector
}

// ports are the ports of the listeners; 0 for none.
type ports struct{ API, SSH int }

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
	return json.Marshal(savedState{
		Format: stateFormat, Version: stateVersion,
		Seed: s.config.Seed, Market: s.config.Market, APIKey: s.config.APIKey,
		Records: s.engine.records, Ports: s.ports, Rates: s.rates, Faults: s.faults,
	})
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
	s.engine = emptyEngine(&s.config, saved.Records)
	s.ports, s.rates, s.limiter, s.faults = saved.Ports, saved.Rates, limiter{}, saved.Faults
	return s.engine.link()
}
