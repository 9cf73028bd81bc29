package placement

import "testing"

// An instance belongs to the first object that claims it. The same object can claim it again.
func TestOwners(t *testing.T) {
	one, other := Object{Token: "one"}, Object{Token: "other", Fleet: "f"}
	var o Owners
	if _, ok := o.Claim("ins_a", one); !ok {
		t.Error("a free instance cannot be claimed")
	}
	if _, ok := o.Claim("ins_a", one); !ok {
		t.Error("an object cannot claim its own instance again")
	}
	if owner, ok := o.Claim("ins_a", other); ok || owner != one {
		t.Errorf("another object claims the instance of %v: %t", owner, ok)
	}
	if owner, found := o.Owner("ins_a"); !found || owner != one || o.Has("ins_b") {
		t.Errorf("the instance belongs to %v (%t)", owner, found)
	}
}
