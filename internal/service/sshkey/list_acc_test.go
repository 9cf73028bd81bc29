package sshkey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_ssh_key/list-resource.tfquery.hcl"

func TestAccSSHKeyList_resultsImportWithoutChanges(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The test imports every key of the account.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	w := env.Workspace(env.Provider())
	for name, key := range map[string]string{"key-1": exampleKey, "key-2": otherKey} {
		env.Post("ssh-keys", fmt.Sprintf(`{"name":%q,"public_key":%q}`, name, key))
	}
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
