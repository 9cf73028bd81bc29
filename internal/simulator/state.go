package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

// The name and the version of the state file format. Increment the version when the saved data or the generated offers
// change.
const (
	stateFormat  = "gpurent-simulator"
	stateVersion = 3
)

// savedState is the content of the state file. It does not contain data that the seed determines.
type savedState struct {
	Format  string
	Version int

	Seed        uint64
	Market      string
	MarketScale int
	// APIKey is the secret of the first key, so that it is valid after a restart.
	APIKey string

	// At is the simulated time of the saved state. Until is the latest time that a response may have shown since then.
	At, Until time.Time
	Began     time.Time
	Seq       int64
	IDs       []byte
	Moves     int64

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
	// Scheduled are the changes of offers that are due later.
	Scheduled []*scheduledPatch

	PerKey, PerAddress int
	Faults             []*activeFault
	FaultDice          []byte
}

// snapshot returns the state to save. The caller holds the lock.
func (s *Simulator) snapshot(until time.Time) (savedState, error) {
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
		Seed: s.config.Seed, Market: s.config.Market, MarketScale: s.config.MarketScale, APIKey: s.config.APIKey,
		At: w.now, Until: until, Began: w.startedAt, Seq: w.seq, IDs: ids, Moves: w.priceChanges,
		Account: w.account, Ledger: w.ledger, Keys: w.keys, SSHKeys: w.sshKeys, Devices: w.devices,
		Instances: w.instances,
		Replayed:  make(map[string]string, len(w.byIdempotencyKey)), Offers: make(map[string]offerState, len(w.offers)),
		PerKey: s.rates.perKey, PerAddress: s.rates.perAddress, Faults: s.faults.faults, FaultDice: dice,
		Scheduled: w.scheduled,
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
	c.APIKey, c.Seed, c.Market, c.MarketScale = saved.APIKey, saved.Seed, saved.Market, saved.MarketScale
	return c, nil
}

// restore sets the state of a state file.
func (s *Simulator) restore(saved *savedState) error {
	for _, at := range []time.Time{saved.Began, saved.At, saved.Until} {
		if !validTime(at) {
			return fmt.Errorf("%v is outside of simulated time", at)
		}
	}
	w := emptyEngine(s.config, saved.At)
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
	for _, p := range saved.Scheduled {
		if w.findOffer(p.OfferID) == nil {
			return fmt.Errorf("offer %s is missing", p.OfferID)
		}
		w.schedulePatch(p)
	}
	s.engine = w
	s.rates, s.limiter = rates{saved.PerKey, saved.PerAddress}, s.config.newLimiter()
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
