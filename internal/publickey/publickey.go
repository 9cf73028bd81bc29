// Package publickey parses lines of the public key files of OpenSSH.
package publickey

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
)

// Errors of Parse. They do not contain the line, which can be a private key.
var (
	ErrPrivate = errors.New("this is a private key. Use the public key (the .pub file). A private key must never " +
		"leave your machine")
	ErrNotKey      = errors.New("this is not a line of a public key file, such as \"ssh-ed25519 AAAA… comment\"")
	ErrManyLines   = errors.New("this is more than one line. Use a single line of a public key file")
	ErrOptions     = errors.New("this line has options before the key, as in authorized_keys. Use the key without options")
	ErrCertificate = errors.New("this is a certificate. Use the public key that it certifies")
)

const certificateSuffix = "-cert-v01@openssh.com"

// Key is a public key.
type Key struct {
	Type        string // for example "ssh-ed25519"
	Fingerprint string // SHA256:…, without padding
	Comment     string // empty for none
}

// Parse parses a line of a public key file: the type of the key, the key in Base64, and an optional comment. It also
// accepts keys of unknown types, if they have the format of RFC 4253, section 6.6, and ignores white space around the
// line.
func Parse(line string) (Key, error) {
	line = strings.TrimSpace(line)
	switch {
	case strings.Contains(line, "PRIVATE KEY"):
		return Key{}, ErrPrivate
	case strings.ContainsAny(line, "\r\n"):
		return Key{}, ErrManyLines
	}
	// Options precede the type, and can contain quoted spaces.
	for rest := line; rest != ""; _, rest = cutField(rest) {
		keyType, afterType := cutField(rest)
		encoded, comment := cutField(afterType)
		data, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case err != nil || !isKey(data, keyType):
		case strings.HasSuffix(keyType, certificateSuffix):
			return Key{}, ErrCertificate
		case len(rest) < len(line):
			return Key{}, ErrOptions
		default:
			digest := sha256.Sum256(data)
			return Key{keyType, "SHA256:" + base64.RawStdEncoding.EncodeToString(digest[:]), comment}, nil
		}
	}
	return Key{}, ErrNotKey
}

// cutField cuts the first field from a text without leading spaces.
func cutField(text string) (field, rest string) {
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], " \t")
}

// isKey reports whether data is a key or a certificate of a type.
func isKey(data []byte, keyType string) bool {
	fields, complete := splitStrings(data)
	switch {
	case len(fields) == 0 || string(fields[0]) != keyType:
		return false
	case strings.HasSuffix(keyType, certificateSuffix):
		return true // it contains numbers, too
	case keyType == "ssh-ed25519":
		return complete && len(fields) == 2 && len(fields[1]) == ed25519.PublicKeySize
	}
	return complete && len(fields) > 1
}

// splitStrings returns the strings at the beginning of data, each of which follows its length (RFC 4251, section 5).
// complete reports that there is nothing else.
func splitStrings(data []byte) (all [][]byte, complete bool) {
	for len(data) >= 4 {
		size, rest := binary.BigEndian.Uint32(data), data[4:]
		if uint64(size) > uint64(len(rest)) {
			return all, false
		}
		all, data = append(all, rest[:size]), rest[size:]
	}
	return all, len(data) == 0
}
