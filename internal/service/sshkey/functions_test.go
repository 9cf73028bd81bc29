package sshkey

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const ecdsaKey = "ecdsa-sha2-nistp256 " +
	"AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBB/Kwb2z4FNEL5XqhAH2xNRrm4QFGyR1UJtVYx6RDHQLdZBbIMrMlqci3F" +
	"KwneyyjixiZLAv6hyZ1DJ4WMw5l4Y="

// callFingerprint calls ssh_fingerprint.
func callFingerprint(publicKey string) (attr.Value, *function.FuncError) {
	resp := function.RunResponse{Result: function.NewResultData(types.StringUnknown())}
	arguments := function.NewArgumentsData([]attr.Value{types.StringValue(publicKey)})
	NewFingerprint().Run(context.Background(), function.RunRequest{Arguments: arguments}, &resp)
	return resp.Result.Value(), resp.Error
}

func TestFingerprint(t *testing.T) {
	for publicKey, want := range map[string]string{ // output of ssh-keygen -l
		line:     fingerprint,
		ecdsaKey: "SHA256:7o5xmuQxGtr9iILVAworHK7d60KXj8OtvCrd936dVgU",
	} {
		if got, err := callFingerprint(publicKey); err != nil || !got.Equal(types.StringValue(want)) {
			t.Errorf("%.20s: got %s, %v, want %s", publicKey, got, err, want)
		}
	}
}

func TestFingerprint_ErrorsWithoutInput(t *testing.T) {
	const secret = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ"
	for publicKey, words := range map[string]string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\n" + secret + "\n-----END OPENSSH PRIVATE KEY-----\n": "private key",
		"":                         "not a line of a public key file",
		secret:                     "not a line of a public key file",
		"ssh-ed25519 " + secret:    "not a line of a public key file",
		fingerprint:                "not a line of a public key file",
		line + "\n" + ecdsaKey:     "more than one line",
		secret + "\n" + line:       "more than one line",
		"no-pty " + line:           "options before the key",
		certificate + " " + secret: "certificate",
	} {
		got, err := callFingerprint(publicKey)
		switch {
		case err == nil:
			t.Errorf("%q: got %s, want an error", publicKey, got)
		case err.FunctionArgument == nil || *err.FunctionArgument != 0 || strings.HasSuffix(err.Text, "."):
			t.Errorf("%q: %q has no argument or ends with a period", publicKey, err.Text)
		case !strings.Contains(err.Text, words) || strings.Contains(err.Text, secret):
			t.Errorf("%q: got %q, want %q", publicKey, err.Text, words)
		}
	}
}
