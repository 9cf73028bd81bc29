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
	if owner, found := o.Other("ins_a", other); !found || owner != one {
		t.Errorf("the other object is %v (%t)", owner, found)
	}
	if _, found := o.Other("ins_a", one); found || !o.Has("ins_a") || o.Has("ins_b") {
		t.Error("the instance does not belong to the first object only")
	}
}
