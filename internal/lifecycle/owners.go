package lifecycle

import "sync"

// Object identifies an object of a Terraform state that has instances.
type Object struct {
	// Token is random and stays the same for the life of the object. Terraform does not pass it to the deletion of a
	// tainted object, and Pulumi to no deletion: then there is none.
	Token string
	// Fleet is the id of a fleet. A single instance has none.
	Fleet string
	// Use is how this process met the instance. A caller of Read sets it, else only Owners.
	Use Use
	// Destroyed: the API has accepted the destruction of the instance. Only Manager sets it.
	Destroyed bool
}

// Use is how this process met the instance of an object. A later value replaces an earlier one.
type Use int

// The values of Use.
const (
	// Imported: the object was imported and read. That is no claim, because it may be a get of Pulumi beside the resource
	// that manages the instance. A creation does not take the instance.
	Imported Use = iota
	// Read: the object of a state was read. That is no claim, either.
	Read
	// Created: a creation rented the instance.
	Created
	// Taken: a creation has taken the instance, which existed, under a chosen key. Another object may have it.
	Taken
	// Planned: a plan or a deletion of the object claimed the instance.
	Planned
)

// Owners records which object has which instance, as far as this process has read, planned or created objects: one
// instance must never belong to two objects. The zero value is empty.
type Owners struct {
	mu      sync.Mutex
	objects map[string]Object // by instance id
}

// Read records that an object was read. It returns another object and false if both are in a state with the instance.
func (o *Owners) Read(id string, object Object) (other Object, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, found := o.objects[id]
	if !found || owner.Use == Imported {
		o.set(id, object)
		return object, true
	}
	return owner, object.Use == Imported || owner.Token == object.Token || owner.Token == ""
}

// Claim records that an object with an instance is planned or deleted. If another object has the instance, Claim
// returns that object and false. An object does not count if it was only read. An object without a token is that which
// was planned or created, unless it has taken the instance.
func (o *Owners) Claim(id string, object Object) (owner Object, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if owner = o.objects[id]; owner.Use > Read && owner.Token != object.Token {
		return owner, object.Token == "" && owner.Use != Taken
	}
	switch {
	case object.Token == "":
		object.Use = Read
	case owner.Use == Taken:
		object.Use = Taken // another object may have the instance, which the plan does not change
	default:
		object.Use = Planned
	}
	object.Destroyed = owner.Destroyed
	o.set(id, object)
	return object, true
}

// create records the instance of a creation, and reports false if another object has it, even if that was only read.
func (o *Owners) create(id string, object Object, use Use) (ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, found := o.objects[id]
	if found && owner.Token != object.Token {
		return false
	}
	object.Use, object.Destroyed = max(owner.Use, use), owner.Destroyed
	o.set(id, object)
	return true
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
