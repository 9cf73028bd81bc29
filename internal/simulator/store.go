package simulator

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

// store keeps the state file up to date. A response is sent only after the file contains what it shows. Concurrent
// changes share one write.
type store struct {
	file string

	// requested counts changes. saved is how many of them the file contains; mu guards it.
	requested atomic.Uint64
	mu        sync.Mutex
	saved     uint64

	// savedUntil is the simulated time until which responses need no write. The simulator's lock guards it.
	savedUntil time.Time
}

// saveAhead is the real time for which responses without changes need no write while a real clock runs.
const saveAhead = 2 * time.Second

// savedUntilNow reports whether a response without changes needs no write now. The caller holds the lock.
func (s *Simulator) savedUntilNow() bool {
	return s.store == nil || !s.engine.now.After(s.store.savedUntil)
}

// persist returns after the file contains all changes before the call.
func (s *Simulator) persist() error {
	st := s.store
	if st == nil {
		return nil
	}
	change := st.requested.Add(1)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.saved >= change {
		return nil
	}
	saved := st.requested.Load()
	if err := s.writeState(saveAhead); err != nil {
		return err
	}
	st.saved = saved
	return nil
}

// persistOrLog is for methods that return no error.
func (s *Simulator) persistOrLog() {
	if err := s.persist(); err != nil {
		s.log.Error("a change has happened, but is not saved", "error", err)
	}
}

// writeState replaces the state file. The file is complete at any moment, even if the process is killed. It is not
// synced, so a power failure may lose the last seconds.
func (s *Simulator) writeState(ahead time.Duration) error {
	s.mu.Lock()
	s.catchUp()
	until := s.engine.now
	if s.config.Clock == ClockReal {
		until = until.Add(time.Duration(float64(ahead) * s.config.TimeScale))
		if until.After(clockEnd) {
			until = clockEnd
		}
	}
	saved, err := s.snapshot(until)
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(saved)
	}
	s.mu.Unlock()
	if err == nil {
		err = replaceFile(s.store.file, raw)
	}
	if err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	s.mu.Lock()
	s.store.savedUntil = until
	s.mu.Unlock()
	return nil
}

// saveAtClose saves the exact time of the close, so that time continues from there.
func (s *Simulator) saveAtClose() error {
	if s.store == nil {
		return nil
	}
	return s.writeState(0)
}

// replaceFile replaces a file atomically. Only its owner can read it, because it contains the API key.
func replaceFile(file string, content []byte) error {
	next := file + ".next"
	if err := atomicfile.WriteNew(next, content, false); err != nil {
		return err
	}
	return atomicfile.Rename(next, file)
}
