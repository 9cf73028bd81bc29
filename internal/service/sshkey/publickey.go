package sshkey

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"golang.org/x/crypto/ssh"
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
type isPublicKey struct{}

func (isPublicKey) Description(context.Context) string { return "one line of a public key file" }

func (v isPublicKey) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (isPublicKey) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if _, err := parseOrFingerprint(req.ConfigValue.ValueString()); err != nil {
		addNotAKey(&resp.Diagnostics, req.Path, err)
	}
}

// isSHA256Fingerprint is a validator for a fingerprint, with or without its prefix.
type isSHA256Fingerprint struct{}

func (isSHA256Fingerprint) Description(context.Context) string { return "a SHA256 fingerprint" }

func (v isSHA256Fingerprint) MarkdownDescription(ctx context.Context) string {
	return v.Description(ctx)
}

func (isSHA256Fingerprint) ValidateString(
	_ context.Context, req validator.StringRequest, resp *validator.StringResponse,
) {
	value := req.ConfigValue.ValueString() // empty if it is null or unknown
	if value != "" && !isFingerprint(canonical(value)) {
		addNotAFingerprint(&resp.Diagnostics, req.Path)
	}
}
