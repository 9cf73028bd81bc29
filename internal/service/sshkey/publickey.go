package sshkey

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"golang.org/x/crypto/ssh"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	errPrivate = errors.New("this is a private key. Use the public key (the .pub file). A private key must never " +
		"leave your machine")
	errNotKey      = errors.New("this is not a line of a public key file, such as \"ssh-ed25519 AAAA… comment\"")
	errManyLines   = errors.New("this is more than one line. Use a single line of a public key file")
	errFingerprint = errors.New("this is a fingerprint, which is valid only for an imported key. To create a key, use " +
		"the line of its public key file")
	errOptions = errors.New("this line has options before the key, as in authorized_keys. Use the key without options")
	errSigned  = errors.New("this is a certificate. Use the public key that it certifies")
)

// sha256Prefix is the prefix of a SHA256 fingerprint in the format of ssh-keygen.
const sha256Prefix = "SHA256:"

// exampleFingerprint is the fingerprint in messages and descriptions.
const exampleFingerprint = "SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo"

// publicKey is a parsed public key, without its comment.
type publicKey struct {
	kind        string // for example "ssh-ed25519"
	fingerprint string // SHA256:…
}

// parse parses a line of a public key file. Its errors do not contain the input, which can be a private key.
func parse(line string) (publicKey, error) {
	if strings.Contains(line, "PRIVATE KEY") {
		return publicKey{}, errPrivate
	}
	line = strings.TrimSpace(line)
	// ParseAuthorizedKey skips invalid lines.
	if strings.ContainsAny(line, "\r\n") {
		return publicKey{}, errManyLines
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		return publicKey{}, errNotKey
	}
	if _, certificate := key.(*ssh.Certificate); certificate {
		return publicKey{}, errSigned
	}
	if len(options) > 0 {
		return publicKey{}, errOptions
	}
	return publicKey{kind: key.Type(), fingerprint: ssh.FingerprintSHA256(key)}, nil
}

// parseOrFingerprint parses a line of a public key file, or a fingerprint. Imported keys have a fingerprint instead of
// the key, because the API does not return the key.
func parseOrFingerprint(text string) (publicKey, error) {
	if isFingerprint(text) {
		return publicKey{fingerprint: canonical(text)}, nil
	}
	return parse(text)
}

// isFingerprint reports whether text is a SHA256 fingerprint with its prefix.
func isFingerprint(text string) bool {
	digest, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimPrefix(text, sha256Prefix), "="))
	return strings.HasPrefix(text, sha256Prefix) && err == nil && len(digest) == sha256.Size
}

// canonical returns a fingerprint in the format of ssh-keygen: with the prefix and without padding. An empty one stays
// empty.
func canonical(fingerprint string) string {
	if fingerprint == "" {
		return ""
	}
	return sha256Prefix + strings.TrimRight(strings.TrimPrefix(fingerprint, sha256Prefix), "=")
}

// isPublicKey is a validator for a line of a public key file or a fingerprint. It rejects private keys before a
// request.
var isPublicKey = tfkit.StringRule{
	Text: "one line of a public key file",
	Check: func(diags *diag.Diagnostics, at path.Path, value string) {
		if _, err := parseOrFingerprint(value); err != nil {
			addNotAKey(diags, at, err)
		}
	},
}

// isSHA256Fingerprint is a validator for a fingerprint, with or without its prefix. Another one rejects an empty text.
var isSHA256Fingerprint = tfkit.StringRule{
	Text: "a SHA256 fingerprint",
	Check: func(diags *diag.Diagnostics, at path.Path, value string) {
		if value != "" && !isFingerprint(canonical(value)) {
			addNotAFingerprint(diags, at)
		}
	},
}
