package simulator

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

// store keeps the state file up to date. A response is sent only after the file contains what it shows. Concurrent
// changes share one write.
type store struct {
	file string

	mu      sync.Mutex
	written *sync.Cond
	// requested and completed are sequence numbers of changes. A goroutine that finds no write in progress writes for
	// all requested changes.
	requested, completed uint64
	writing              bool

	// savedUntil is the simulated time until which responses need no write. The simulator's lock guards it.
	savedUntil time.Time
}

// saveAhead is the real time for which responses without changes need no write while a real clock runs.
const saveAhead = 2 * time.Second

func newStore(file string) *store {
	st := &store{file: file}
	st.written = sync.NewCond(&st.mu)
	return st
}

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
	st.mu.Lock()
	defer st.mu.Unlock()
	st.requested++
	mine := st.requested
	for st.completed < mine {
		if st.writing {
			st.written.Wait()
			continue
		}
		st.writing = true
		upTo := st.requested
		st.mu.Unlock()
		err := s.writeState(saveAhead)
		st.mu.Lock()
		st.writing = false
		st.written.Broadcast()
		if err != nil {
			return err
		}
		st.completed = upTo
	}
	return nil
}

// persistOrLog is for methods that return no error.
func (s *Simulator) persistOrLog() {
	if err := s.persist(); err != nil {
		s.log.Error("a change has happened, but is not saved", "error", err)
	}
}

// writeState replaces the state file. The file is complete at any moment, also if the process is killed. It is not
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
