package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

var validKey = regexp.MustCompile(`^[!-~]{1,64}$`)

// No two pairs of source and generation make the same key, even if a configured key or a name looks like a derived one.
func TestKeySource_EachPairHasItsOwnKey(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	part := func() string {
		parts := []string{"w", "-2", " ", "2", `"`, `\"`, "сервер"} // few, so that different pairs are similar
		var text strings.Builder
		for range 1 + random.IntN(3) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		return text.String()
	}
	made, pairs := map[string]string{}, map[string]bool{}
	for len(pairs) < 5000 {
		a, b, generation := part(), part(), 1+random.IntN(4)
		for kind, source := range map[string]KeySource{
			"key " + fmt.Sprintf("%q", a):                     ConfiguredKey(a),
			"name " + fmt.Sprintf("%q, %q", a, b):             NameKey(a, b),
			"slot " + fmt.Sprintf("%q, %d", a, generation):    SlotKey(a, generation),
			"derived " + fmt.Sprintf("%q, %d", a, generation): ConfiguredKey(ConfiguredKey(a).Key(generation)),
		} {
			pair := fmt.Sprintf("%s, generation %d", kind, generation)
			key := source.Key(generation)
			if other, used := made[key]; used && other != pair {
				t.Fatalf("%s and %s have the same key %s", pair, other, key)
			}
			if !validKey.MatchString(key) {
				t.Fatalf("the key of %s is %q", pair, key)
			}
			made[key], pairs[pair] = pair, true
		}
	}
}

func TestNewCreation_RandomKey(t *testing.T) {
	m := newManager(rentaltest.Client(t, rentaltest.NewMarket(nil)))
	one := m.newCreation(Order{})
	other := m.newCreation(Order{})
	if one.key() == other.key() {
		t.Errorf("the random key %q is not unique", one.key())
	}
	if ConfiguredKey(one.randomKey).Key(1) != one.key() {
		t.Error("the random key cannot be configured later")
	}
}
