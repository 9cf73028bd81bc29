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
	ErrPrivate = errors.New("this is a private key. Use the public key (the .pub file). If this " +
		"private key was committed or logged, replace it")
	ErrNotKey      = errors.New("this is not a line of a public key file, such as \"ssh-ed25519 AAAA… comment\"")
	ErrManyLines   = errors.New("this is more than one line. Use a single line of a public key file")
	ErrOptions     = errors.New("this line has options before the key, as in authorized_keys. Use the key without options")
	ErrCertificate = errors.New("this is a certificate. Use the public key that it certifies")
)

// Key is a public key.
type Key struct {
	Type        string // for example "ssh-ed25519"
	Fingerprint string // SHA256:…, without padding
	Comment     string // empty for none
}

// Parse parses a line of a public key file: the type, the key in Base64, and an optional comment. A key of an unknown
// type is valid if it has the format of RFC 4253, section 6.6.
func Parse(line string) (Key, error) {
	line = strings.TrimSpace(line)
	switch {
	case strings.Contains(line, "PRIVATE KEY"):
		return Key{}, ErrPrivate
	case strings.ContainsAny(line, "\r\n"):
		return Key{}, ErrManyLines
	}
	fields := strings.FieldsFunc(line, func(char rune) bool { return char == ' ' || char == '\t' })
	for i := range len(fields) - 1 {
		data, err := base64.StdEncoding.DecodeString(fields[i+1])
		switch {
		case strings.HasSuffix(fields[i], "-cert-v01@openssh.com"):
			return Key{}, ErrCertificate
		case err != nil || !isKey(data, fields[i]):
		case i > 0: // options precede the type
			return Key{}, ErrOptions
		default:
			digest := sha256.Sum256(data)
			_, comment, _ := strings.Cut(line, fields[1])
			fingerprint := "SHA256:" + base64.RawStdEncoding.EncodeToString(digest[:])
			return Key{fields[0], fingerprint, strings.TrimSpace(comment)}, nil
		}
	}
	return Key{}, ErrNotKey
}

// isKey reports whether data is a key of a type: the type, and at least one string more.
func isKey(data []byte, keyType string) bool {
	parts := splitStrings(data)
	if len(parts) < 2 || string(parts[0]) != keyType {
		return false
	}
	return keyType != "ssh-ed25519" || len(parts) == 2 && len(parts[1]) == ed25519.PublicKeySize
}

// splitStrings returns the strings of which data consists, each after its length (RFC 4251, section 5); else nil.
func splitStrings(data []byte) (all [][]byte) {
	for len(data) >= 4 {
		size, rest := binary.BigEndian.Uint32(data), data[4:]
		if uint64(size) > uint64(len(rest)) {
			return nil
		}
		all, data = append(all, rest[:size]), rest[size:]
	}
	if len(data) > 0 {
		return nil
	}
	return all
}
