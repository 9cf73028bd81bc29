package lifecycle

import "sync"

// Object identifies an object of a Terraform state that has instances.
type Object struct {
	// Token is random and stays the same for the life of the object.
	Token string
	// Fleet is the id of a fleet. A single instance has none.
	Fleet string
	// Taken: a creation of this process has taken the instance, which existed, under a chosen key. Another object may have
	// it. Only Manager sets it.
	Taken bool
	// Destroyed: the API has accepted the destruction of the instance. Only Manager sets it.
	Destroyed bool
}

// Owners records which object has which instance, as far as this process has read states or created instances: one
// instance must never belong to two objects. The zero value is empty.
type Owners struct {
	mu      sync.Mutex
	objects map[string]Object // by instance id
}

// Claim records that an object has an instance. If another object has it, Claim returns that object and false. The
// object without a token is a tainted one that is destroyed: Terraform does not pass its private state to Delete.
// Another object can have its instance only if it has taken it.
func (o *Owners) Claim(id string, object Object) (owner Object, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if owner, found := o.objects[id]; found {
		return owner, owner.Token == object.Token || object.Token == "" && !owner.Taken
	}
	o.set(id, object)
	return object, true
}

// set records an object. The lock is held.
func (o *Owners) set(id string, object Object) {
	if o.objects == nil {
		o.objects = map[string]Object{}
	}
	o.objects[id] = object
}

// destroyed records that the API has accepted the destruction of an instance, whose status may lag.
func (o *Owners) destroyed(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	object := o.objects[id]
	object.Destroyed = true
	o.set(id, object)
}

// Release gives up an instance that [Manager.Find] has claimed.
func (o *Owners) Release(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.objects, id)
}

// Owner returns the object that has an instance.
func (o *Owners) Owner(id string) (owner Object, found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, found = o.objects[id]
	return owner, found
}

// Has reports whether any object has an instance.
func (o *Owners) Has(id string) bool {
	_, found := o.Owner(id)
	return found
}
