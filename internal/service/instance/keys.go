package instance

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
)

const (
	maxKeyLength = 64
	// maxSuccessors bounds how many rentals one configured key can stand for.
	// Finding the next free one takes a request for each that was used.
	maxSuccessors = 100
)

// keySeries is the idempotency keys of one creation: the configured one, and its
// successors for the servers that replace the first. A server is rented under
// the first key whose server is not destroyed, so the same series leads to the
// same server however often, and in whatever process, it is walked.
type keySeries struct {
	base   string
	random bool
	number int // of the present key, counted from 1
}

// newKeySeries starts at the configured key. Without one the key is random: it
// is for this creation alone.
func newKeySeries(configured string) *keySeries {
	if configured == "" {
		return &keySeries{base: "tf-" + rand.Text(), random: true, number: 1}
	}
	return &keySeries{base: configured, number: 1}
}

// current is the present key.
func (s *keySeries) current() string {
	if s.number == 1 {
		return s.base
	}
	suffix := "-" + strconv.Itoa(s.number)
	if len(s.base)+len(suffix) <= maxKeyLength {
		return s.base + suffix
	}
	// What is cut off must still tell two keys apart.
	sum := sha256.Sum256([]byte(s.base))
	suffix = "~" + hex.EncodeToString(sum[:6]) + suffix
	return s.base[:maxKeyLength-len(suffix)] + suffix
}

// next goes on to the successor, and is false when there is none.
func (s *keySeries) next() bool {
	if s.random || s.number >= maxSuccessors {
		return false
	}
	s.number++
	return true
}

// keyring knows which configured keys the instances of a run have, so that two
// servers never share one: the second would be told that it is the first.
type keyring struct {
	mu       sync.Mutex
	kept     map[string]keyHolder // servers that are there, by key
	planned  map[string]keyHolder // servers this plan creates, by key
	creating map[string]keyHolder // creations under way or done, by key
}

// keyHolder is told to people.
type keyHolder struct{ id, name string }

func (h keyHolder) String() string {
	name := "without a name"
	if h.name != "" {
		name = fmt.Sprintf("named %q", h.name)
	}
	if h.id == "" {
		return "a new server " + name
	}
	return "instance " + h.id + " " + name
}

// keep notes a server that is there with its key. It returns another that the
// plan creates with the same key.
func (k *keyring) keep(key string, holder keyHolder) (other keyHolder, clash bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]keyHolder{}
	}
	k.kept[key] = holder
	other, clash = k.planned[key]
	return other, clash
}

// plan notes a server that the plan creates. It returns another with the same
// key; the one that it replaces, if any, does not count.
func (k *keyring) plan(key string, holder keyHolder, replaces string) (other keyHolder, clash bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, clash = k.planned[key]; clash {
		return other, true
	}
	if k.planned == nil {
		k.planned = map[string]keyHolder{}
	}
	k.planned[key] = holder
	other, clash = k.kept[key]
	return other, clash && other.id != replaces
}

// create notes a creation before it makes its first request.
func (k *keyring) create(key string, holder keyHolder) (other keyHolder, clash bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, clash = k.creating[key]; clash {
		return other, true
	}
	if k.creating == nil {
		k.creating = map[string]keyHolder{}
	}
	k.creating[key] = holder
	return keyHolder{}, false
}
