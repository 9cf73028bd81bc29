package simulator

import (
	"math"
	"slices"
)

// maxMoneyKop limits balances, so that no sum overflows: ten billion rubles.
const maxMoneyKop = 1_000_000_000_000

// AccountPatch changes the account. Nil fields stay unchanged.
type AccountPatch struct {
	// BalanceKop and CreditLimitKop are kopecks. The balance changes by an adjustment entry in the ledger. Usage that
	// is not posted yet is still subtracted later.
	BalanceKop     *int64 `json:"balance_kop"`
	CreditLimitKop *int64 `json:"credit_limit_kop"`
	EmailVerified  *bool  `json:"email_verified"`
	// Blocked makes all requests with a key fail with 403.
	Blocked *bool `json:"blocked"`
	// MaxInstances is the maximum number of instances that are not destroyed.
	MaxInstances *int64 `json:"max_instances"`
}

func (p AccountPatch) validate() error {
	var wrong issues
	wrong.within("balance_kop", p.BalanceKop, -maxMoneyKop, maxMoneyKop)
	wrong.within("credit_limit_kop", p.CreditLimitKop, 0, maxMoneyKop)
	wrong.within("max_instances", p.MaxInstances, 0, math.MaxInt32)
	return wrong.err()
}

// SetAccount changes the account. It returns an error if a value is out of range.
func (s *Simulator) SetAccount(p AccountPatch) error {
	if err := p.validate(); err != nil {
		return err
	}
	return s.update(func(w *engine) error {
		a := &w.Account
		setIfGiven(&a.CreditLimitKop, p.CreditLimitKop)
		setIfGiven(&a.EmailVerified, p.EmailVerified)
		setIfGiven(&a.Blocked, p.Blocked)
		setIfGiven(&a.MaxInstances, p.MaxInstances)
		if p.BalanceKop != nil && *p.BalanceKop != a.BalanceKop {
			w.post(w.Now, entryAdjustment, *p.BalanceKop-a.BalanceKop, "Adjustment", nil)
		}
		w.scheduleFundsExhausted()
		return nil
	})
}

// OfferPatch changes an offer. Nil fields stay unchanged. A moving market does not change the offer any more.
type OfferPatch struct {
	// Available reports whether the market lists the offer. A rented offer is never available.
	Available *bool `json:"available"`
	// OnDemandKopH and InterruptibleKopH are kopecks per hour for the whole server. An instance with a bid below the
	// interruptible price is outbid.
	OnDemandKopH      *int64 `json:"on_demand_kop_h"`
	InterruptibleKopH *int64 `json:"interruptible_kop_h"`
}

func (p OfferPatch) validate() error {
	var wrong issues
	wrong.within("on_demand_kop_h", p.OnDemandKopH, 0, maxPriceKopH)
	wrong.within("interruptible_kop_h", p.InterruptibleKopH, 0, maxPriceKopH)
	return wrong.err()
}

// SetOffer changes an offer, rented or not. It returns an error if the id is unknown or a price is out of range.
func (s *Simulator) SetOffer(id string, p OfferPatch) error {
	if err := p.validate(); err != nil {
		return err
	}
	return s.update(func(w *engine) error {
		o := w.findOffer(id)
		if o == nil {
			return notFound(textNoOffer)
		}
		w.stopMoves(o)
		setIfGiven(&o.Listed, p.Available)
		if p.OnDemandKopH != nil || p.InterruptibleKopH != nil {
			w.setPrice(o, p.OnDemandKopH, p.InterruptibleKopH)
		}
		return nil
	})
}

// InstancePatch changes an instance. Nil fields stay unchanged.
type InstancePatch struct {
	// Status holds until the next request: scheduled transitions are cancelled. The status running includes assigned
	// ports.
	Status *string `json:"status"`
	// DesiredState changes nothing else.
	DesiredState *string `json:"desired_state"`
	// StopReason "" clears the reason.
	StopReason *string `json:"stop_reason"`
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
	return nil
}

// SetInstance changes the state of an instance, as the provider or an administrator might. It returns an error if the
// id or a value is unknown, or if a destroyed instance would get another status.
func (s *Simulator) SetInstance(id string, p InstancePatch) error {
	if err := p.validate(); err != nil {
		return err
	}
	return s.update(func(w *engine) error {
		i := w.findInstance(id)
		if i == nil {
			return notFound(textNoInstance)
		}
		if i.destroyed() && p.Status != nil && *p.Status != statusDestroyed {
			return conflict(text{en: "The instance is already destroyed"})
		}
		setIfGiven(&i.Desired, p.DesiredState)
		if p.StopReason != nil {
			i.StopReason = p.StopReason
			if *p.StopReason == "" {
				i.StopReason = nil
			}
		}
		w.instanceChanged(i)
		if p.Status != nil {
			w.force(i, *p.Status)
		}
		return nil
	})
}

// DecideDeviceCode approves or denies a device login, as the approval page does. It returns an error if the user code
// is unknown or the login is not pending.
func (s *Simulator) DecideDeviceCode(userCode string, approve bool) error {
	return s.update(func(w *engine) error { return w.decideLogin(userCode, approve) })
}

// AddFault makes matching requests fail from now on. It returns an error if the fault is invalid.
func (s *Simulator) AddFault(f Fault) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.add(f)
	return nil
}

// ClearFaults removes all faults.
func (s *Simulator) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.Faults = nil
}

// Requests returns the log of API requests, oldest first. It keeps the newest 10,000.
func (s *Simulator) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests.list()
}

// ClearRequests clears the log of API requests.
func (s *Simulator) ClearRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = requestLog{}
}

// SetRateLimit sets the requests per minute of a key and of an address. 0 or less means no limit; the headers then show
// 1,000,000. It resets all counters.
func (s *Simulator) SetRateLimit(perKey, perAddress int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rates = rates{limitOrNone(perKey), limitOrNone(perAddress)}
	s.limiter = limiter{}
}

// update changes the engine at the current time and runs the events that become due.
func (s *Simulator) update(do func(*engine) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	if err := do(s.engine); err != nil {
		return err
	}
	s.engine.advanceTo(s.engine.Now)
	return nil
}

func setIfGiven[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}
