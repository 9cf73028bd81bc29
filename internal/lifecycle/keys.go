package lifecycle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

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
