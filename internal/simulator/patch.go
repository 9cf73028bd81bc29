package simulator

import (
	"math"
	"slices"
)

// maxMoneyKop bounds what can be set, so that no sum overflows: ten billion rubles.
const maxMoneyKop = 1_000_000_000_000

// maxTrafficGB bounds the traffic of one patch: a petabyte.
const maxTrafficGB = 1_000_000

// AccountPatch is what to set on the account; nil leaves a thing as it is.
type AccountPatch struct {
	// BalanceKop and CreditLimitKop are kopecks. The balance is set by an adjustment entry in the ledger; usage that is
	// not yet posted still comes off it.
	BalanceKop     *int64
	CreditLimitKop *int64
	EmailVerified  *bool
	// Blocked makes every request with a key a 403.
	Blocked *bool
	// MaxInstances is how many instances may exist that are not destroyed.
	MaxInstances *int64
}

func (p AccountPatch) validate() error {
	switch {
	case p.BalanceKop != nil && (*p.BalanceKop < -maxMoneyKop || *p.BalanceKop > maxMoneyKop):
		return outOfRange("balance_kop", -maxMoneyKop, maxMoneyKop)
	case p.CreditLimitKop != nil && (*p.CreditLimitKop < 0 || *p.CreditLimitKop > maxMoneyKop):
		return outOfRange("credit_limit_kop", 0, maxMoneyKop)
	case p.MaxInstances != nil && *p.MaxInstances < 0:
		return outOfRange("max_instances", 0, math.MaxInt32)
	}
	return nil
}

// SetAccount changes the account. It fails on a value out of range.
func (s *Simulator) SetAccount(p AccountPatch) error {
	if err := p.validate(); err != nil {
		return err
	}
	return s.change(func(w *world) error {
		a := &w.account
		set(&a.CreditLimitKop, p.CreditLimitKop)
		set(&a.EmailVerified, p.EmailVerified)
		set(&a.Blocked, p.Blocked)
		set(&a.MaxInstances, p.MaxInstances)
		if p.BalanceKop != nil && *p.BalanceKop != a.BalanceKop {
			w.post(w.at, entryAdjustment, *p.BalanceKop-a.BalanceKop, "Adjustment", nil)
		}
		w.watchMoney()
		return nil
	})
}

// OfferPatch is what to set on an offer; nil leaves a thing as it is. A market that moves leaves an offer that was set
// alone from then on.
type OfferPatch struct {
	// Available is whether the market offers the server; while it is rented it is not available in any case.
	Available *bool
	// OnDemandKopH and InterruptibleKopH are kopecks per hour for the whole server. An interruptible price above the bid
	// of the server's rental takes the GPU away from it.
	OnDemandKopH      *int64
	InterruptibleKopH *int64
	// Online false makes the host vanish: a server rented on it stops with the reason "provider", cannot be started, and
	// its log cannot be read (503) until Online true brings the host back.
	Online *bool
	// FailBoots makes every boot on this host end in failed.
	FailBoots *bool
}

func (p OfferPatch) validate() error {
	for name, price := range map[string]*int64{"on_demand_kop_h": p.OnDemandKopH, "interruptible_kop_h": p.InterruptibleKopH} {
		if price != nil && (*price < 0 || *price > maxPriceKopH) {
			return outOfRange(name, 0, maxPriceKopH)
		}
	}
	return nil
}

// SetOffer moves the market for one offer, rented or not. It fails when there is no such offer, or on a price out of range.
func (s *Simulator) SetOffer(id string, p OfferPatch) error {
	if err := p.validate(); err != nil {
		return err
	}
	return s.change(func(w *world) error {
		o := w.findOffer(id)
		if o == nil {
			return notFound("Предложение не найдено", "There is no such offer")
		}
		w.pin(o)
		set(&o.Listed, p.Available)
		set(&o.FailBoots, p.FailBoots)
		if p.OnDemandKopH != nil || p.InterruptibleKopH != nil {
			w.setPrice(o, p.OnDemandKopH, p.InterruptibleKopH)
		}
		if p.Online != nil {
			w.setOnline(o, *p.Online)
		}
		return nil
	})
}

// InstancePatch is what to force on an instance; nil leaves a thing as it is.
type InstancePatch struct {
	// Status holds from then on: what was ahead is cancelled, and only a request moves the instance on. Running comes
	// with its ports assigned.
	Status *string
	// DesiredState alone changes nothing else.
	DesiredState *string
	// StopReason "" clears the reason.
	StopReason *string
	// TrafficGB is traffic that the server has just caused, GB; it is billed at once. The simulator's servers cause none
	// by themselves.
	TrafficGB *float64
}

func (p InstancePatch) validate() error {
	for _, field := range []struct {
		name    string
		value   *string
		allowed []string
	}{
		{"status", p.Status, allStatuses},
		{"desired_state", p.DesiredState, allDesired},
		{"stop_reason", p.StopReason, append([]string{""}, allStopReasons...)},
	} {
		if field.value != nil && !slices.Contains(field.allowed, *field.value) {
			return invalid(field.name, textOneOf.with(joined(field.allowed)))
		}
	}
	if p.TrafficGB != nil && !(*p.TrafficGB >= 0 && *p.TrafficGB <= maxTrafficGB) {
		return outOfRange("traffic_gb", 0, maxTrafficGB)
	}
	return nil
}

// SetInstance forces an instance into a state, as the provider or an administrator might. It fails when there is no such
// instance, on an unknown value, or when a destroyed instance should come back.
func (s *Simulator) SetInstance(id string, p InstancePatch) error {
	if err := p.validate(); err != nil {
		return err
	}
	return s.change(func(w *world) error {
		i := w.findInstance(id)
		if i == nil {
			return notFound(errNoInstance.ru, errNoInstance.en)
		}
		if i.destroyed() && p.Status != nil && *p.Status != statusDestroyed {
			return conflict("Сервер уже удалён", "The server is destroyed already")
		}
		set(&i.Desired, p.DesiredState)
		if p.StopReason != nil {
			i.StopReason = p.StopReason
			if *p.StopReason == "" {
				i.StopReason = nil
			}
		}
		w.changed(i)
		if p.Status != nil {
			w.force(i, *p.Status)
		}
		if p.TrafficGB != nil {
			w.chargeTraffic(i, int64(math.Round(*p.TrafficGB*milli)))
		}
		return nil
	})
}

// DecideDeviceCode approves or denies a device login by its user code, as the approval page does. It fails when there is
// no such code or it is no longer waiting.
func (s *Simulator) DecideDeviceCode(userCode string, approve bool) error {
	return s.change(func(w *world) error { return w.decide(userCode, approve) })
}

// AddFault makes matching requests fail from now on. It fails when the fault is malformed.
func (s *Simulator) AddFault(f Fault) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	s.faults.add(f)
	s.mu.Unlock()
	return s.persist()
}

// ClearFaults removes all faults.
func (s *Simulator) ClearFaults() {
	s.mu.Lock()
	s.faults.faults = nil
	s.mu.Unlock()
	s.persistQuietly()
}

// FaultsActed returns how many requests faults have acted on since the start or the last reset, removed faults included.
func (s *Simulator) FaultsActed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.acted
}

// Requests returns the log of API requests, oldest first; it keeps the newest ten thousand.
func (s *Simulator) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests.list()
}

// ClearRequests empties the log of API requests.
func (s *Simulator) ClearRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = requestLog{}
}

// SetRateLimit sets how many requests a key and an address may make in a minute; 0 or less lifts a limit (the
// headers then say a million). What was counted so far is forgotten.
func (s *Simulator) SetRateLimit(perKey, perAddress int) {
	s.mu.Lock()
	s.rates = rates{limitOf(perKey), limitOf(perAddress)}
	s.limiter = s.config.newLimiter()
	s.mu.Unlock()
	s.persistQuietly()
}

// change does something to the world as of now, and lets happen what that makes due.
func (s *Simulator) change(do func(*world) error) error {
	if err := s.alter(do); err != nil {
		return err
	}
	return s.persist()
}

func (s *Simulator) alter(do func(*world) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	if err := do(s.world); err != nil {
		return err
	}
	s.world.advanceTo(s.world.at)
	return nil
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

func outOfRange(field string, low, high int64) error {
	return invalid(field, textRange.with(low, high))
}
