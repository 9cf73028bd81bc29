package sshkey

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/publickey"
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

// The errors are those of publickey.Parse, at the argument. The CLIs add them to a sentence, so they have no final
// period.
func TestFingerprint_Errors(t *testing.T) {
	for publicKey, want := range map[string]error{
		"-----BEGIN OPENSSH PRIVATE KEY-----": publickey.ErrPrivate, fingerprint: publickey.ErrNotKey,
		line + "\n" + ecdsaKey: publickey.ErrManyLines, "no-pty " + line: publickey.ErrOptions,
	} {
		_, err := callFingerprint(publicKey)
		if err == nil || err.FunctionArgument == nil || *err.FunctionArgument != 0 || err.Text != want.Error() ||
			strings.HasSuffix(err.Text, ".") {
			t.Errorf("%q: %v, want %v", publicKey, err, want)
		}
	}
}
