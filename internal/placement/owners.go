package placement

import "sync"

// Object identifies an object of a Terraform state that has instances.
type Object struct {
	// Token is random and stays the same for the life of the object.
	Token string
	// Fleet is the name of a fleet; empty for a single instance.
	Fleet string
}

// Owners records which object has which instance, as far as this process has read states or created instances: one
// instance must never belong to two objects. The zero value is empty.
type Owners struct {
	mu      sync.Mutex
	objects map[string]Object // by instance id
}

// Claim records that an object has an instance. If another object has it, Claim returns that object and changes
// nothing.
func (o *Owners) Claim(id string, object Object) (other Object, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if owner, found := o.objects[id]; found && owner.Token != object.Token {
		return owner, false
	}
	if o.objects == nil {
		o.objects = map[string]Object{}
	}
	o.objects[id] = object
	return Object{}, true
}

// Other returns the other object that has an instance.
func (o *Owners) Other(id string, object Object) (other Object, found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	other, found = o.objects[id]
	return other, found && other.Token != object.Token
}

// Has reports whether any object has an instance.
func (o *Owners) Has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, found := o.objects[id]
	return found
}
