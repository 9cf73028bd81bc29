package placement

import (
	"crypto/rand"
	"maps"
	"sync"
)

// Owner identifies an existing or planned instance in messages.
type Owner struct {
	ID   string // empty before the creation
	Name string // empty for none
}

// Owners records which instance and which idempotency key belongs to which resource of this process, so that two
// resources never get the same instance. The zero value is empty.
type Owners struct {
	mu        sync.Mutex
	inState   map[string]bool   // instances that a state contains, or that this process created
	replaced  map[string]bool   // instances that a plan replaces or destroys, so a creation may recover them
	claimed   map[string]bool   // instances that this process created or recovered
	destroyed map[string]bool   // instances that this process destroys, or has destroyed
	recovered map[string]string // recovering creations by instance id

	keys     map[string]Owner // instances in a state, by idempotency key
	planned  map[string]Owner // instances that a single plan creates, by idempotency key
	creating map[string]Owner // creations in progress, by idempotency key
}

// set adds an id to a set that may be nil. The lock is held.
func set(ids *map[string]bool, id string) {
	if *ids == nil {
		*ids = map[string]bool{}
	}
	(*ids)[id] = true
}

func put(owners *map[string]Owner, key string, owner Owner) {
	if *owners == nil {
		*owners = map[string]Owner{}
	}
	(*owners)[key] = owner
}

// Add records an instance that a state contains.
func (o *Owners) Add(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	set(&o.inState, id)
}

// Has reports whether a state contains an instance, as far as this process has read it.
func (o *Owners) Has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.inState[id]
}

// SetReplaced records whether a plan replaces or destroys an instance.
func (o *Owners) SetReplaced(id string, replaced bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if replaced {
		set(&o.replaced, id)
		return
	}
	delete(o.replaced, id)
}

// IsReplaced reports whether a plan replaces or destroys an instance.
func (o *Owners) IsReplaced(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.replaced[id]
}

// KeepKey records an instance of a state with its idempotency key. It returns another instance that the plan creates
// with the same key.
func (o *Owners) KeepKey(key string, owner Owner) (other Owner, clash bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	put(&o.keys, key, owner)
	other, clash = o.planned[key]
	return other, clash
}

// PlanKey records an instance that a single plan creates. It returns another instance that the plan creates with the
// same key.
func (o *Owners) PlanKey(key string, owner Owner) (other Owner, clash bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if other, clash = o.planned[key]; clash {
		return other, true
	}
	put(&o.planned, key, owner)
	return Owner{}, false
}

// IsPlanned reports whether a single plan creates an instance with the key.
func (o *Owners) IsPlanned(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, planned := o.planned[key]
	return planned
}

// KeyOwner returns the instance of a state that has the key.
func (o *Owners) KeyOwner(key string) (owner Owner, found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, found = o.keys[key]
	return owner, found
}

// beginCreate records a creation before its first request, until the caller calls end. It returns another creation in
// progress with the same key.
func (o *Owners) beginCreate(key string, owner Owner) (end func(), other Owner, clash bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if other, clash = o.creating[key]; clash {
		return nil, other, true
	}
	put(&o.creating, key, owner)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.creating, key)
	}, Owner{}, false
}

// claim is the result of claiming an instance for a creation.
type claim int

const (
	claimFree       claim = iota // the instance now belongs to the creation
	claimTaken                   // it belongs to another resource
	claimDestroying              // this process destroys it for another resource
)

// claim claims an instance that the API returned to a creation.
func (o *Owners) claim(id string) claim {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.destroyed[id]:
		return claimDestroying
	case o.inState[id] || o.claimed[id]:
		return claimTaken
	}
	set(&o.claimed, id)
	return claimFree
}

// unclaim undoes claim.
func (o *Owners) unclaim(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.claimed, id)
}

// recover records that a creation recovered an instance of an earlier run, and returns an id for the creation. It
// returns false if this process has begun to destroy the instance.
func (o *Owners) recover(id string) (creation string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.destroyed[id] {
		return "", false
	}
	if o.recovered == nil {
		o.recovered = map[string]string{}
	}
	o.recovered[id] = rand.Text()
	return o.recovered[id], true
}

// BeginDestroy records that this process is about to destroy an instance. It returns false if a creation other than
// recovery has recovered the instance, which then belongs to another resource. That happens with create_before_destroy
// and an unchanged idempotency key, and after a resource was renamed.
func (o *Owners) BeginDestroy(id, recovery string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if by, recovered := o.recovered[id]; recovered && by != recovery {
		delete(o.replaced, id)
		return false
	}
	set(&o.destroyed, id)
	return true
}

// CancelDestroy undoes BeginDestroy for an instance that was not destroyed.
func (o *Owners) CancelDestroy(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.destroyed, id)
}

// Remove removes an instance that is gone. The record of BeginDestroy stays.
func (o *Owners) Remove(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.claimed, id)
	delete(o.recovered, id)
	delete(o.replaced, id)
	maps.DeleteFunc(o.keys, func(_ string, owner Owner) bool { return owner.ID == id })
}
