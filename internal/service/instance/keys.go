package instance

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
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

// keyring records which instance has which configured key, so that two instances
// never share one: the service would return the first for the second.
type keyring struct {
	mu       sync.Mutex
	kept     map[string]keyHolder // instances in the state, by key
	planned  map[string]keyHolder // instances that a single plan creates, by key
	creating map[string]keyHolder // creations in flight, by key
	created  idSet                // instances that this process created or took over

	takenOver  map[string]string // the creation that received an instance of an earlier run, by the instance's id
	destroying idSet             // instances that this process destroys, or has destroyed
}

// keyHolder is told to people.
type keyHolder struct{ id, name string }

func (h keyHolder) String() string {
	name := "without a name"
	if h.name != "" {
		name = fmt.Sprintf("named %q", tfkit.OneLine(h.name))
	}
	if h.id == "" {
		return "a new server " + name
	}
	return "instance " + tfkit.OneLine(h.id) + " " + name
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

// plan records an instance that a single plan creates. It returns another that the
// same plan creates with this key.
func (k *keyring) plan(key string, holder keyHolder) (other keyHolder, clash bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, clash = k.planned[key]; clash {
		return other, true
	}
	if k.planned == nil {
		k.planned = map[string]keyHolder{}
	}
	k.planned[key] = holder
	return keyHolder{}, false
}

// keeper returns the instance in the state that has the key.
func (k *keyring) keeper(key string) (holder keyHolder, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	holder, found = k.kept[key]
	return holder, found
}

// create records a creation before it makes its first request, until the caller
// calls end. It returns another creation in flight with the same key.
func (k *keyring) create(key string, holder keyHolder) (end func(), other keyHolder, clash bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, clash = k.creating[key]; clash {
		return nil, other, true
	}
	if k.creating == nil {
		k.creating = map[string]keyHolder{}
	}
	k.creating[key] = holder
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.creating, key)
	}, keyHolder{}, false
}

// claim is what a creation may do with the instance that it received.
type claim int

const (
	claimFree       claim = iota // it is the creation's
	claimTaken                   // another resource of this run has it
	claimDestroying              // this run destroys it for another resource
)

// claim records that a creation of this process received the instance. known says that a state has it.
func (k *keyring) claim(id string, known bool) claim {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.destroying.has(id):
		return claimDestroying
	case known || k.created.has(id):
		return claimTaken
	}
	k.created.add(id)
	return claimFree
}

// unclaim undoes a claim.
func (k *keyring) unclaim(id string) { k.created.remove(id) }

// takeOver records that a creation received the instance of an earlier run, and returns an id for that creation. It is
// false when this run has begun to destroy the instance.
func (k *keyring) takeOver(id string) (creation string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.destroying.has(id) {
		return "", false
	}
	if k.takenOver == nil {
		k.takenOver = map[string]string{}
	}
	k.takenOver[id] = rand.Text()
	return k.takenOver[id], true
}

// destroy records that an instance is about to be destroyed. It is false when another creation than that of the state
// took it over: that resource has it now.
func (k *keyring) destroy(id, creation string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if by, taken := k.takenOver[id]; taken && by != creation {
		return false
	}
	k.destroying.add(id)
	return true
}

// keepAlive undoes destroy for an instance that was not destroyed.
func (k *keyring) keepAlive(id string) { k.destroying.remove(id) }

// release forgets an instance that is gone.
func (k *keyring) release(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.created.remove(id)
	delete(k.takenOver, id)
	maps.DeleteFunc(k.kept, func(_ string, holder keyHolder) bool { return holder.id == id })
}
