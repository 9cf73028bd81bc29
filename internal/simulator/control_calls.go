package simulator

import (
	"encoding/json"
	"math"
	"time"
)

type clockView struct {
	Now time.Time `json:"now"`
}

func controlHealth(s *Simulator, _ map[string]string, _ *fields) (any, error) {
	return struct {
		Status string    `json:"status"`
		Now    time.Time `json:"now"`
	}{"ok", s.Now()}, nil
}

// maxAdvance is the maximum of one advance in seconds: ten years.
const maxAdvance = 10 * 366 * 24 * 3600

func controlClock(s *Simulator, _ map[string]string, f *fields) (any, error) {
	f.require("advance_seconds")
	seconds := f.number("advance_seconds", maxAdvance)
	if err := f.finish(); err != nil {
		return nil, err
	}
	return clockView{s.Advance(time.Duration(math.Round(*seconds * float64(time.Second))))}, nil
}

func controlAccount(s *Simulator, _ map[string]string, f *fields) (any, error) {
	var patch AccountPatch
	if err := f.into(&patch); err != nil {
		return nil, err
	}
	if err := s.SetAccount(patch); err != nil {
		return nil, err
	}
	return s.readEngine(func(w *engine) any {
		a := &w.Account
		return struct {
			BalanceKop     int64 `json:"balance_kop"`
			CreditLimitKop int64 `json:"credit_limit_kop"`
			EmailVerified  bool  `json:"email_verified"`
			Blocked        bool  `json:"blocked"`
			MaxInstances   int64 `json:"max_instances"`
		}{a.BalanceKop, a.CreditLimitKop, a.EmailVerified, a.Blocked, a.MaxInstances}
	}), nil
}

func controlOffer(s *Simulator, params map[string]string, f *fields) (any, error) {
	var patch OfferPatch
	if err := f.into(&patch); err != nil {
		return nil, err
	}
	if err := s.SetOffer(params["id"], patch); err != nil {
		return nil, err
	}
	return s.readEngine(func(w *engine) any { return viewOffer(w.findOffer(params["id"])) }), nil
}

func controlInstance(s *Simulator, params map[string]string, f *fields) (any, error) {
	if f.isNull("stop_reason") {
		f.members["stop_reason"] = json.RawMessage(`""`)
	}
	var patch InstancePatch
	if err := f.into(&patch); err != nil {
		return nil, err
	}
	if err := s.SetInstance(params["id"], patch); err != nil {
		return nil, err
	}
	view := s.readEngine(func(w *engine) any {
		if i := w.findInstance(params["id"]); i != nil {
			return w.viewInstance(i)
		}
		return nil
	})
	if view == nil { // a concurrent reset removed it
		return nil, notFound(textNoInstance)
	}
	return view, nil
}

// readEngine calls read under the lock, without advancing the engine.
func (s *Simulator) readEngine(read func(*engine) any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return read(s.engine)
}

func controlDeviceCode(s *Simulator, params map[string]string, f *fields) (any, error) {
	f.require("decision")
	decision := f.enum("decision", "approve", "deny")
	if err := f.finish(); err != nil {
		return nil, err
	}
	return nil, s.DecideDeviceCode(params["user_code"], *decision == "approve")
}

func controlAddFault(s *Simulator, _ map[string]string, f *fields) (any, error) {
	var fault Fault
	f.require("path")
	if err := f.into(&fault); err != nil {
		return nil, err
	}
	return nil, s.AddFault(fault)
}

func controlClearFaults(s *Simulator, _ map[string]string, _ *fields) (any, error) {
	s.ClearFaults()
	return nil, nil
}

func controlRequests(s *Simulator, _ map[string]string, _ *fields) (any, error) {
	return struct {
		Data []Request `json:"data"`
	}{s.Requests()}, nil
}

func controlClearRequests(s *Simulator, _ map[string]string, _ *fields) (any, error) {
	s.ClearRequests()
	return nil, nil
}

func controlRateLimit(s *Simulator, _ map[string]string, f *fields) (any, error) {
	f.require("per_minute_key", "per_minute_address")
	perKey := f.integer("per_minute_key", 0, math.MaxInt32)
	perAddress := f.integer("per_minute_address", 0, math.MaxInt32)
	if err := f.finish(); err != nil {
		return nil, err
	}
	s.SetRateLimit(int(*perKey), int(*perAddress))
	return nil, nil
}

func controlReset(s *Simulator, _ map[string]string, f *fields) (any, error) {
	if err := f.finish(); err != nil {
		return nil, err
	}
	s.Reset()
	return clockView{s.Now()}, nil
}
