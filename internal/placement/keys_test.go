package placement

import (
	"strings"
	"testing"
)

func TestKeySeries(t *testing.T) {
	long := strings.Repeat("k", 64)
	short := newIdempotencyKeys("a")
	for _, want := range []string{"a", "a-2", "a-3"} {
		if got := short.current(); got != want || !short.next() {
			t.Errorf("key %q, want %q and one after it", got, want)
		}
	}
	seen := map[string]bool{}
	for _, base := range []string{long, long[:63] + "x", long[:63], long[:62]} {
		for s := newIdempotencyKeys(base); s.number < 20; s.next() {
			if key := s.current(); seen[key] || len(key) > maxKeyLength {
				t.Errorf("key %d of %q is %q: too long, or not unique", s.number, base, key)
			}
			seen[s.current()] = true
		}
	}
	if random := newIdempotencyKeys(""); random.current() == newIdempotencyKeys("").current() || random.next() {
		t.Errorf("the random key %q is not unique", random.current())
	}
	last := newIdempotencyKeys("a")
	for last.next() {
		continue
	}
	if last.number != maxKeys {
		t.Errorf("the series ends at %d", last.number)
	}
}
