package placement

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

var validKey = regexp.MustCompile(`^[!-~]{1,64}$`)

func seriesOf(key string) *idempotencyKeys { return newIdempotencyKeys(Request{IdempotencyKey: key}) }

func seriesOfName(prefix, name string) *idempotencyKeys {
	return newIdempotencyKeys(Request{IdempotencyPrefix: prefix, Order: rental.InstanceCreate{Name: name}})
}

func TestKeySeries(t *testing.T) {
	long := strings.Repeat("k", 64)
	short := seriesOf("a")
	for _, want := range []string{"a", "a-2", "a-3"} {
		if got := short.current(); got != want || !short.next() {
			t.Errorf("key %q, want %q and one after it", got, want)
		}
	}
	seen := map[string]bool{}
	for _, base := range []string{long, long[:63] + "x", long[:63], long[:62]} {
		for s := seriesOf(base); s.number < 20; s.next() {
			if key := s.current(); seen[key] || len(key) > maxKeyLength {
				t.Errorf("key %d of %q is %q: too long, or not unique", s.number, base, key)
			}
			seen[s.current()] = true
		}
	}
	if random := seriesOf(""); random.current() == seriesOf("").current() || random.next() {
		t.Errorf("the random key %q is not unique", random.current())
	}
	last := seriesOf("a")
	for last.next() {
		continue
	}
	if last.number != maxKeys {
		t.Errorf("the series ends at %d", last.number)
	}
}

// With a prefix, no key of a name is a key of another name, and each is valid.
func TestKeySeries_OfAName(t *testing.T) {
	prefix := strings.Repeat("p", MaxPrefixLength)
	if key := KeyOfName("team-", "trainer"); key != "team-trainer" {
		t.Errorf("the first key is %q", key)
	}
	names := []string{
		"worker", "worker-2", "worker~2", "~2~worker", "two words", "сервер", strings.Repeat("n", 60),
		strings.Repeat("n", 59) + "x",
	}
	names = append(names, strings.TrimPrefix(KeyOfName(prefix, "two words"), prefix)) // like a hashed key
	for _, prefix := range []string{"p", prefix} {
		seen := map[string]string{}
		for _, name := range names {
			for s := seriesOfName(prefix, name); s.number < 20; s.next() {
				key := s.current()
				if other, used := seen[key]; used || !validKey.MatchString(key) {
					t.Errorf("key %d of %q is %q: invalid, or a key of %q", s.number, name, key, other)
				}
				seen[key] = name
			}
		}
	}
}
