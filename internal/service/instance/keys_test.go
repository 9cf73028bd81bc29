package instance

import (
	"strings"
	"testing"
)

func TestKeySeries(t *testing.T) {
	long := strings.Repeat("k", 64)
	short := newKeySeries("a")
	for _, want := range []string{"a", "a-2", "a-3"} {
		if got := short.current(); got != want || !short.next() {
			t.Errorf("key %q, want %q and one after it", got, want)
		}
	}
	seen := map[string]bool{}
	for _, base := range []string{long, long[:63] + "x", long[:63], long[:62]} {
		for s := newKeySeries(base); s.number < 20; s.next() {
			if key := s.current(); seen[key] || !printableKey.MatchString(key) {
				t.Errorf("key %d of %q is %q: too long, or not its own", s.number, base, key)
			}
			seen[s.current()] = true
		}
	}
	if random := newKeySeries(""); random.current() == newKeySeries("").current() || random.next() {
		t.Errorf("the random key %q is not for one creation alone", random.current())
	}
	last := newKeySeries("a")
	for last.next() {
		continue
	}
	if last.number != maxSuccessors {
		t.Errorf("the series ends at %d", last.number)
	}
}

func TestKeyring_plan(t *testing.T) {
	existing, planned := keyHolder{id: "ins_a"}, keyHolder{name: "b"}
	var k keyring
	if _, clash := k.plan("k", planned); clash {
		t.Error("the first instance of a plan clashes")
	}
	if _, clash := k.keep("k", existing); !clash {
		t.Error("an existing instance does not clash with a planned one")
	}
	if _, clash := k.plan("k", planned); !clash {
		t.Error("two planned instances do not clash")
	}
	if other, found := k.keeper("k"); !found || other != existing {
		t.Errorf("the key belongs to %v (%t), want %v", other, found, existing)
	}
	k.release("ins_a")
	if other, found := k.keeper("k"); found {
		t.Errorf("the key still belongs to %v", other)
	}
}

func TestKeyring_create(t *testing.T) {
	var k keyring
	end, _, clash := k.create("k", keyHolder{name: "a"})
	if clash {
		t.Fatal("the first creation clashes")
	}
	if _, _, clash := k.create("k", keyHolder{name: "b"}); !clash {
		t.Error("a creation in flight does not clash")
	}
	end()
	if _, _, clash := k.create("k", keyHolder{name: "b"}); clash {
		t.Error("a creation that ended clashes")
	}
	if k.claim("ins_a", false) != claimFree || k.claim("ins_a", false) != claimTaken {
		t.Error("an instance must be claimed once")
	}
	if k.release("ins_a"); k.claim("ins_a", false) != claimFree {
		t.Error("an instance that is gone cannot be claimed again")
	}
	if k.claim("ins_b", true) != claimTaken {
		t.Error("an instance in a state can be claimed")
	}
}

// Whoever comes first has a server: a creation that takes it over, or the resource that destroys it.
func TestKeyring_takeOverAndDestroy(t *testing.T) {
	var k keyring
	creation, ok := k.takeOver("ins_a")
	if !ok || k.destroy("ins_a", "") || k.destroy("ins_a", "another") {
		t.Error("a server that was taken over is destroyed for another resource")
	}
	if !k.destroy("ins_a", creation) {
		t.Error("a server that was taken over is not destroyed for its own resource")
	}
	if _, ok := k.takeOver("ins_a"); ok || k.claim("ins_a", true) != claimDestroying {
		t.Error("a server that is being destroyed is taken over")
	}
	k.keepAlive("ins_a")
	if _, ok := k.takeOver("ins_a"); !ok {
		t.Error("a server whose destruction failed cannot be taken over")
	}
}
