package placement

import "testing"

func TestOwners_PlanKey(t *testing.T) {
	existing, planned := Owner{ID: "ins_a"}, Owner{Name: "b"}
	var o Owners
	if _, clash := o.PlanKey("k", planned); clash {
		t.Error("the first instance of a plan clashes")
	}
	if _, clash := o.KeepKey("k", existing); !clash {
		t.Error("an existing instance does not clash with a planned one")
	}
	if _, clash := o.PlanKey("k", planned); !clash {
		t.Error("two planned instances do not clash")
	}
	if other, found := o.KeyOwner("k"); !found || other != existing {
		t.Errorf("the key belongs to %v (%t), want %v", other, found, existing)
	}
	o.Remove("ins_a")
	if other, found := o.KeyOwner("k"); found {
		t.Errorf("the key still belongs to %v", other)
	}
}

func TestOwners_Claim(t *testing.T) {
	var o Owners
	end, _, clash := o.beginCreate("k", Owner{Name: "a"})
	if clash {
		t.Fatal("the first creation clashes")
	}
	if _, _, clash := o.beginCreate("k", Owner{Name: "b"}); !clash {
		t.Error("a creation in progress does not clash")
	}
	end()
	if _, _, clash := o.beginCreate("k", Owner{Name: "b"}); clash {
		t.Error("a creation that ended clashes")
	}
	if o.claim("ins_a") != claimFree || o.claim("ins_a") != claimTaken {
		t.Error("an instance is claimed twice")
	}
	if o.Remove("ins_a"); o.claim("ins_a") != claimFree {
		t.Error("an instance that is gone cannot be claimed again")
	}
	if o.Add("ins_b"); o.claim("ins_b") != claimTaken {
		t.Error("an instance in a state is claimed")
	}
}

// The first one gets an instance: a creation that recovers it, or the resource that destroys it.
func TestOwners_RecoverOrDestroy(t *testing.T) {
	var o Owners
	recovery, ok := o.recover("ins_a")
	if !ok || o.BeginDestroy("ins_a", "") || o.BeginDestroy("ins_a", "another") {
		t.Error("a recovered instance is destroyed for another resource")
	}
	if !o.BeginDestroy("ins_a", recovery) {
		t.Error("a recovered instance is not destroyed for its own resource")
	}
	if _, ok := o.recover("ins_a"); ok || o.claim("ins_a") != claimDestroying {
		t.Error("an instance that is being destroyed is recovered")
	}
	o.CancelDestroy("ins_a")
	if _, ok := o.recover("ins_a"); !ok {
		t.Error("an instance whose destruction failed cannot be recovered")
	}
}
