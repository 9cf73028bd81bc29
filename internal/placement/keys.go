package placement

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

const (
	maxKeyLength = 64
	// maxKeys is the number of successive instances that one configured key can rent. Finding the first free key takes one
	// request for each used key.
	maxKeys = 100
)

// idempotencyKeys is the series of idempotency keys of one creation: the configured key, then its successors for the
// replacements of the first instance. An instance is rented under the first key whose instance is not destroyed, so the
// series leads to the same instance in every run.
type idempotencyKeys struct {
	base   string
	random bool
	number int // of the current key, counted from 1
}

// newIdempotencyKeys returns a series that begins with the configured key. Without a configured key, the series has one
// random key.
func newIdempotencyKeys(configured string) *idempotencyKeys {
	if configured == "" {
		return &idempotencyKeys{base: "tf-" + rand.Text(), random: true, number: 1}
	}
	return &idempotencyKeys{base: configured, number: 1}
}

func (s *idempotencyKeys) current() string {
	if s.number == 1 {
		return s.base
	}
	suffix := "-" + strconv.Itoa(s.number)
	if len(s.base)+len(suffix) <= maxKeyLength {
		return s.base + suffix
	}
	// Two keys that differ only in what is cut off must stay different.
	sum := sha256.Sum256([]byte(s.base))
	suffix = "~" + hex.EncodeToString(sum[:6]) + suffix
	return s.base[:maxKeyLength-len(suffix)] + suffix
}

// next moves to the successor, and returns false if there is none.
func (s *idempotencyKeys) next() bool {
	if s.random || s.number >= maxKeys {
		return false
	}
	s.number++
	return true
}
