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
	errPrivate   = errors.New("this is a private key. Give the public one (the .pub file); a private key must never leave your machine")
	errNotKey    = errors.New("this is not a line of a public key file, which looks like \"ssh-ed25519 AAAA… comment\"")
	errManyLines = errors.New("this is more than one line: give each key by itself, as its line of a public key file")
	errOnlyPrint = errors.New("a fingerprint stands for a key that is in the account already. To add one, give the line of its public key file")
	errOptions   = errors.New("this line has options before the key, as in authorized_keys: give the key alone")
	errSigned    = errors.New("this is a certificate: give the public key that it certifies")
)

// sha256Prefix begins a fingerprint, as ssh-keygen writes it.
const sha256Prefix = "SHA256:"

// publicKey is what two lines must share to be the same key: white space and
// comment do not count.
type publicKey struct {
	kind        string // for example "ssh-ed25519"
	fingerprint string // SHA256:…
}

// parse reads one line of a public key file. It never repeats its input in an
// error: that could be a private key.
func parse(line string) (publicKey, error) {
	if strings.Contains(line, "PRIVATE KEY") {
		return publicKey{}, errPrivate
	}
	line = strings.TrimSpace(line)
	// The parser passes over lines that are no key, and would find one further down.
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

// read is parse for what may also be a fingerprint, which stands for a key that was
// imported: the service does not tell the key itself.
func read(text string) (publicKey, error) {
	if isFingerprint(text) {
		return publicKey{fingerprint: canonical(text)}, nil
	}
	return parse(text)
}

// isFingerprint says whether a text is a SHA256 fingerprint with its prefix.
func isFingerprint(text string) bool {
	digest, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimPrefix(text, sha256Prefix), "="))
	return strings.HasPrefix(text, sha256Prefix) && err == nil && len(digest) == sha256.Size
}

// canonical writes a fingerprint of the service as ssh-keygen does, whether it
// names its hash and pads its base64 or not.
func canonical(fingerprint string) string {
	return sha256Prefix + strings.TrimRight(strings.TrimPrefix(fingerprint, sha256Prefix), "=")
}

// isPublicKey refuses at validation what the service would refuse, and above
// all what must not be sent to it.
type isPublicKey struct{}

func (isPublicKey) Description(context.Context) string { return "one line of a public key file" }

func (v isPublicKey) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (isPublicKey) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if _, err := read(req.ConfigValue.ValueString()); err != nil {
		addNotAKey(&resp.Diagnostics, req.Path, err)
	}
}
