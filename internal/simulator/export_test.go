package simulator

import "slices"

// Save and KeepSaved export methods of a server for tests.
var (
	Save      = (*Simulator).save
	KeepSaved = (*Simulator).keepSaved
)

// ControlCalls returns the fields of each call of the control API.
func (s *Simulator) ControlCalls() map[string][]string {
	calls := map[string][]string{}
	for _, route := range controlRoutes {
		f := &fields{}
		_, _ = route.handle(s, map[string]string{"id": "none", "user_code": "none"}, f) //nolint:errcheck // only reads
		slices.Sort(f.known)
		calls[route.method+" "+route.pattern] = slices.Compact(f.known)
	}
	return calls
}
