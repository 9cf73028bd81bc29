package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var validKey = regexp.MustCompile(`^[!-~]{1,64}$`)

// No two pairs of seed and generation make the same key, even if a configured key or a name looks like a derived one.
func TestKeySeed_EachPairHasItsOwnKey(t *testing.T) {
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
		for kind, seed := range map[string]KeySeed{
			"key " + fmt.Sprintf("%q", a):                           ChosenKey(a),
			"name " + fmt.Sprintf("%q, %q", a, b):                   ChosenName("instance", a, b),
			"fleet " + fmt.Sprintf("%q, %q", a, b):                  ChosenName("fleet", a, b),
			"slot " + fmt.Sprintf("%q, %d", a, generation):          FleetSeed(a).Slot(generation),
			"chosen " + fmt.Sprintf("%q, %q, %d", a, b, generation): ChosenName("fleet", a, b).Slot(generation),
			"derived " + fmt.Sprintf("%q, %d", a, generation):       ChosenKey(ChosenKey(a).Key(generation)),
		} {
			pair := fmt.Sprintf("%s, generation %d", kind, generation)
			key := seed.Key(generation)
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

func TestKeySeed_Random(t *testing.T) {
	one, other := RandomKey(), RandomKey()
	id, otherID := NewFleetID("train"), NewFleetID("train")
	if one.Key(1) == other.Key(1) || id == otherID {
		t.Error("random seeds are equal")
	}
	if ChosenKey(one.text).Key(1) != one.Key(1) {
		t.Error("the random key cannot be configured later")
	}
}
