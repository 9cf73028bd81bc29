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

func TestKeyring(t *testing.T) {
	a, b := keyHolder{id: "ins_a"}, keyHolder{name: "b"}
	var k keyring
	if _, clash := k.plan("k", b, ""); clash {
		t.Error("the first of a plan clashes")
	}
	if _, clash := k.keep("k", a); !clash {
		t.Error("a server that is there and a new one do not clash")
	}
	k = keyring{}
	if _, clash := k.keep("k", a); clash {
		t.Error("a server clashes with itself")
	}
	if _, clash := k.plan("k", b, "ins_a"); clash {
		t.Error("a server clashes with the one that replaces it")
	}
	if _, clash := k.plan("k", b, "ins_a"); !clash {
		t.Error("two new servers do not clash")
	}
	k = keyring{}
	k.keep("k", a)
	if other, clash := k.plan("k", b, ""); !clash || other != a {
		t.Error("a new server does not clash with one that is there")
	}
	if _, clash := k.create("k", a); clash {
		t.Error("the first creation clashes")
	}
	if _, clash := k.create("k", b); !clash {
		t.Error("two creations do not clash")
	}
}
