package simulator

// Save saves the state as a [Server] does about once a second.
func (s *Simulator) Save() error { return s.save() }
