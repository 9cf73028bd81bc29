package simulator

import "net/http"

// Hooks change what only the engine can change. They are for tests: the binary has none. The engine holds its lock
// during a call, so that a hook must not call the simulator.
type Hooks interface {
	// LockPrice returns the price to lock, in kopecks per hour, for an instance that is created or started with an
	// offer at a price.
	LockPrice(offerID string, start bool, kopH int64) int64
	// ListsAll reports whether a list of offers also contains the offers that are not available.
	ListsAll(r *http.Request) bool
}

type noHooks struct{}

func (noHooks) LockPrice(_ string, _ bool, kopH int64) int64 { return kopH }

func (noHooks) ListsAll(*http.Request) bool { return false }

// InstanceState is the state of an instance, for tests. All prices are in kopecks per hour.
type InstanceState struct {
	OfferID, Status, DesiredState string
	RunningKopH                   int64
	BidKopH                       int64 // 0 for on-demand
}

// Instance returns the state of an instance, the zero value if there is none.
func (s *Simulator) Instance(id string) InstanceState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	i := s.engine.findInstance(id)
	if i == nil {
		return InstanceState{}
	}
	return InstanceState{i.OfferID, i.Status, i.Desired, i.RunningKopH, i.BidKopH}
}
