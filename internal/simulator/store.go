package simulator

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

// store keeps the state file up to date: an answer leaves only when the file holds what it tells. Requests that change
// something at once share one write.
type store struct {
	file string

	mu      sync.Mutex
	written *sync.Cond
	// asked and done number the changes; whoever finds nobody writing writes for all that have asked.
	asked, done uint64
	writing     bool

	// until is how far ahead in time the file covers answers; the simulator's lock guards it.
	until time.Time
}

// coverAhead is real time: how long answers that change nothing need no write, while the clock runs.
const coverAhead = 2 * time.Second

func newStore(file string) *store {
	st := &store{file: file}
	st.written = sync.NewCond(&st.mu)
	return st
}

// covered tells whether an answer as of now, that changed nothing, is covered by the file. The lock is held.
func (s *Simulator) covered() bool { return s.store == nil || !s.world.at.After(s.store.until) }

// persist returns when the file holds all that has happened before the call.
func (s *Simulator) persist() error {
	st := s.store
	if st == nil {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.asked++
	mine := st.asked
	for st.done < mine {
		if st.writing {
			st.written.Wait()
			continue
		}
		st.writing = true
		upTo := st.asked
		st.mu.Unlock()
		err := s.writeState(coverAhead)
		st.mu.Lock()
		st.writing = false
		st.written.Broadcast()
		if err != nil {
			return err
		}
		st.done = upTo
	}
	return nil
}

// persistQuietly is for changes whose callers are not told of errors.
func (s *Simulator) persistQuietly() {
	if err := s.persist(); err != nil {
		s.log.Error("a change has happened, but is not saved", "error", err)
	}
}

// writeState replaces the file by a picture of now, which covers answers for so much real time. It is complete at any
// moment, whenever the process is killed; it is not forced through to the disk, so that a machine that loses power may
// lose the last seconds.
func (s *Simulator) writeState(ahead time.Duration) error {
	s.mu.Lock()
	s.catchUp()
	until := s.world.at
	if s.config.Clock == ClockReal {
		until = until.Add(time.Duration(float64(ahead) * s.config.TimeScale))
		if until.After(clockEnd) {
			until = clockEnd
		}
	}
	saved, err := s.save(until)
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
	s.store.until = until
	s.mu.Unlock()
	return nil
}

// rest saves the very instant at which the simulator ends, so that time goes on from there.
func (s *Simulator) rest() error {
	if s.store == nil {
		return nil
	}
	return s.writeState(0)
}

// replaceFile replaces a file as a whole. Only its owner can read it: it holds the API key.
func replaceFile(file string, content []byte) error {
	next := file + ".next"
	if err := atomicfile.WriteNew(next, content, false); err != nil {
		return err
	}
	return atomicfile.Rename(next, file)
}
