package sshkey

import (
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/publickey"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var errFingerprint = errors.New("this is a fingerprint, which is valid only for an imported key. To create a key, " +
	"use the line of its public key file")

// sha256Prefix is the prefix of a SHA256 fingerprint in the format of ssh-keygen.
const sha256Prefix = "SHA256:"

// exampleFingerprint is the fingerprint in messages and descriptions.
const exampleFingerprint = "SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo"

// parseOrFingerprint parses a line of a public key file, or a fingerprint. Imported keys have a fingerprint instead of
// the key, because the API does not return the key.
func parseOrFingerprint(text string) (publickey.Key, error) {
	if isFingerprint(text) {
		return publickey.Key{Fingerprint: canonical(text)}, nil
	}
	return publickey.Parse(text)
}

// isFingerprint reports whether text is a fingerprint, with its prefix, and not a public key.
func isFingerprint(text string) bool { return strings.HasPrefix(text, sha256Prefix) }

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
