package lifecycle

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// KeySeed is what the idempotency keys of an object derive from: one for each generation, of a fleet also for each
// slot. No two of them, of any object in the account, are equal. The zero value is no seed.
type KeySeed struct {
	parts string
	kind  seedKind
	text  string // of a single one: the configured key that makes the same key; of ExactKey: the key
}

// seedKind is what the API's answer to a key proves.
type seedKind int

const (
	// chosen: the user has chosen the seed. Another state can have the same one by mistake, so that an instance that was
	// rented under its keys may belong to another object.
	chosen seedKind = iota + 1
	// stored: the seed is random and in the state. What was rented under its keys is the object's own.
	stored
	// fresh: as stored, but made for this creation. No earlier apply has rented anything under its keys.
	fresh
	// single: as fresh, for one creation of one instance. Nothing else is ever rented under its key.
	single
)

// ChosenKey is the seed of an instance with idempotency_key.
func ChosenKey(key string) KeySeed { return newSeed(chosen, "key", key) }

// ChosenName is the seed of an instance or a fleet with a name and the provider's idempotency_prefix. kind separates
// the two.
func ChosenName(kind, prefix, name string) KeySeed { return newSeed(chosen, kind, prefix, name) }

// RandomKey is the seed of one creation of an instance.
func RandomKey() KeySeed {
	text := "tf-" + rand.Text()
	return KeySeed{ChosenKey(text).parts, single, text}
}

// idLength is the number of random characters in the id of a fleet: 80 bits.
const idLength = 16

// NewFleetID returns an id for a fleet: its name, a slash and random characters.
func NewFleetID(name string) string { return name + "/" + strings.ToLower(rand.Text()[:idLength]) }

var fleetID = regexp.MustCompile(`^[^/]+/[a-z2-7]{16}$`)

// IsFleetID reports whether a text has the form of NewFleetID.
func IsFleetID(id string) bool { return fleetID.MatchString(id) }

// ExactKey is the chosen seed of a single key, which Key returned before.
func ExactKey(key string) KeySeed { return KeySeed{kind: chosen, text: key} }

// FleetSeed is the seed of a fleet with an id that is in the state.
func FleetSeed(id string) KeySeed { return newSeed(stored, "id", id) }

// NewFleetSeed is FleetSeed for the creation that made the id.
func NewFleetSeed(id string) KeySeed { return newSeed(fresh, "id", id) }

// Slot is the seed of a slot of a fleet.
func (s KeySeed) Slot(slot int) KeySeed {
	return newSeed(s.kind, "slot", s.parts, fmt.Sprint(slot))
}

// newSeed quotes the parts, so that different parts never make the same text.
func newSeed(kind seedKind, parts ...string) KeySeed {
	return KeySeed{parts: fmt.Sprintf("%q", parts), kind: kind}
}

// Chosen reports whether the user has chosen the seed.
func (s KeySeed) Chosen() bool { return s.kind == chosen }

// Configurable returns the idempotency_key with which a creation finds what was rented under a random key.
func (s KeySeed) Configurable() (key string, ok bool) { return s.text, s.kind == single }

// New reports whether the seed was made for this creation.
func (s KeySeed) New() bool { return s.kind == fresh || s.kind == single }

// Key returns the idempotency key of a generation, counted from 1. The first one is hashed, too: every text can be
// configured as a key, so a text that is sent as it is could equal the derived key of another instance.
func (s KeySeed) Key(generation int) string {
	if s.parts == "" && generation <= 1 {
		return s.text
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", cmp.Or(s.parts, s.text), generation))
	return hex.EncodeToString(sum[:])
}
