package placement

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	maxKeyLength = 64
	// MaxPrefixLength is the maximum length of Request.IdempotencyPrefix, which leaves room for a hash.
	MaxPrefixLength = 31
	// maxKeys is the number of successive instances that one configured key can rent.
	maxKeys = 10_000
)

// idempotencyKeys is the series of idempotency keys of one creation: the configured key, then its successors for the
// replacements of the first instance. An instance is rented under the first key whose instance is not destroyed, so the
// series leads to the same instance in every run.
type idempotencyKeys struct {
	base         string
	prefix, name string // of which base was made; empty for another key
	random       bool
	number       int // of the current key, counted from 1
}

// newIdempotencyKeys returns a series that begins with the configured key, or with the key of the prefix and the name.
// Without either, the series has one random key.
func newIdempotencyKeys(request Request) *idempotencyKeys {
	prefix, name := request.IdempotencyPrefix, request.Order.Name
	switch {
	case request.IdempotencyKey != "":
		return &idempotencyKeys{base: request.IdempotencyKey, number: max(1, request.Generation)}
	case prefix != "":
		return &idempotencyKeys{
			base: KeyOfName(prefix, name), prefix: prefix, name: name, number: max(1, request.Generation),
		}
	}
	return &idempotencyKeys{base: "tf-" + rand.Text(), random: true, number: 1}
}

// KeyOfName returns the first idempotency key of an instance with a name: the prefix and the name, with a hash instead
// of the name if the key would be too long or have other characters than printable ASCII.
func KeyOfName(prefix, name string) string {
	if strings.HasPrefix(name, nameMark) { // it could be equal to another key of the prefix
		return hashedKey(prefix, name)
	}
	return fittingKey(prefix, name)
}

// nameMark begins what follows the prefix in keys that are not the prefix and a name.
const nameMark = "~"

// fittingKey returns a key of the prefix and a text, which it replaces with a hash if necessary.
func fittingKey(prefix, text string) string {
	key := prefix + text
	if len(key) > maxKeyLength || strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return hashedKey(prefix, text)
	}
	return key
}

func hashedKey(prefix, text string) string {
	sum := sha256.Sum256([]byte(text))
	return prefix + nameMark + hex.EncodeToString(sum[:16])
}

func (s *idempotencyKeys) current() string {
	if s.number == 1 {
		return s.base
	}
	if s.prefix != "" {
		// NAME-2 could be the name of another instance.
		return fittingKey(s.prefix, nameMark+strconv.Itoa(s.number)+nameMark+s.name)
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
