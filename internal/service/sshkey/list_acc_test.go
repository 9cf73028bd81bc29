package sshkey_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// addKeys creates count keys outside of Terraform.
func addKeys(t *testing.T, env *acctest.Env, count int) {
	t.Helper()
	for n := range count {
		seed := make([]byte, ed25519.SeedSize)
		seed[0], seed[1] = byte(n), byte(n>>8)
		key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(seed).Public())
		if err != nil {
			t.Fatal(err)
		}
		encoded := base64.StdEncoding.EncodeToString(key.Marshal())
		env.Post("ssh-keys", fmt.Sprintf(`{"name":"key-%d","public_key":"ssh-ed25519 %s"}`, n, encoded))
	}
}

const listExample = "list-resources/gpurent_ssh_key/list-resource.tfquery.hcl"

func TestAccSSHKeyList_resultsImportWithoutChanges(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The test imports every key of the account.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	w := env.Workspace(env.Provider())
	addKeys(t, env, 2)
	found := w.Adopt(strings.Replace(env.Read(listExample), "= gpurent\n", "= gpurent\n  include_resource = true\n", 1))
	if len(found) != 2 {
		t.Fatalf("%d results, want 2", len(found))
	}
	for _, f := range found {
		if !strings.HasPrefix(f.Name, "key-") || !strings.Contains(f.Name, "(ssh-ed25519 SHA256:") {
			t.Errorf("the display name %q lacks the name or the fingerprint", f.Name)
		}
	}
}
