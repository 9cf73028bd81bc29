package lifecycle

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// maxGenerations is the number of successive instances that one KeySource can rent.
const maxGenerations = 10_000

// KeySource identifies an instance across its replacements: the idempotency keys of all its generations derive from
// it. The zero value means a random key, which identifies one creation only.
type KeySource struct{ parts string }

// ConfiguredKey is the source for a key that the user has chosen.
func ConfiguredKey(key string) KeySource { return keySource("key", key) }

// NameKey is the source for the name of an instance and the prefix of the provider.
func NameKey(prefix, name string) KeySource { return keySource("name", prefix, name) }

// SlotKey is the source for a slot of a fleet.
func SlotKey(fleet string, slot int) KeySource { return keySource("slot", fleet, fmt.Sprint(slot)) }

// keySource quotes the parts, so that different parts never make the same text.
func keySource(parts ...string) KeySource { return KeySource{fmt.Sprintf("%q", parts)} }

// Key returns the idempotency key of a generation, counted from 1. The first one is hashed, too: every text can be
// configured as a key, so a text that is sent as it is could equal the derived key of another instance.
func (s KeySource) Key(generation int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", s.parts, generation))
	return hex.EncodeToString(sum[:])
}

// idempotencyKeys is the series of idempotency keys of one creation. An instance is rented under the first key whose
// instance is not destroyed, so the series leads to the same instance in every run.
type idempotencyKeys struct {
	source KeySource
	random string // the configured key that would make the same series; empty unless it is random
	number int    // generation of the current key
}

func newIdempotencyKeys(order Order) *idempotencyKeys {
	if order.Keys == (KeySource{}) {
		random := "tf-" + rand.Text()
		return &idempotencyKeys{source: ConfiguredKey(random), random: random, number: 1}
	}
	return &idempotencyKeys{source: order.Keys, number: max(1, order.Generation)}
}

func (s *idempotencyKeys) current() string { return s.source.Key(s.number) }

// isRandom reports whether no other creation can have used the keys.
func (s *idempotencyKeys) isRandom() bool { return s.random != "" }

// next moves to the next generation, and returns false if there is none.
func (s *idempotencyKeys) next() bool {
	if s.isRandom() || s.number >= maxGenerations {
		return false
	}
	s.number++
	return true
}
