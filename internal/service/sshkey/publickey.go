package sshkey

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"golang.org/x/crypto/ssh"
)

var (
	errPrivate   = errors.New("this is a private key. Give the public one (the .pub file); a private key must never leave your machine")
	errNotKey    = errors.New("this is not a line of a public key file, which looks like \"ssh-ed25519 AAAA… comment\"")
	errManyLines = errors.New("this is more than one key: give one line, and one resource for each key")
	errOptions   = errors.New("this line has options before the key, as in authorized_keys: give the key alone")
)

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
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case err != nil:
		return publicKey{}, errNotKey
	case len(strings.TrimSpace(string(rest))) > 0:
		return publicKey{}, errManyLines
	case len(options) > 0:
		return publicKey{}, errOptions
	}
	return publicKey{kind: key.Type(), fingerprint: ssh.FingerprintSHA256(key)}, nil
}

// canonical writes a fingerprint of the service as ssh-keygen does, whether it
// names its hash and pads its base64 or not.
func canonical(fingerprint string) string {
	return "SHA256:" + strings.TrimRight(strings.TrimPrefix(fingerprint, "SHA256:"), "=")
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
	if _, err := parse(req.ConfigValue.ValueString()); err != nil {
		addNotAKey(&resp.Diagnostics, req.Path, err)
	}
}

func addNotAKey(diags *diag.Diagnostics, at path.Path, err error) {
	diags.AddAttributeError(at, "Not a public key", "The value of "+at.String()+": "+err.Error()+".")
}
