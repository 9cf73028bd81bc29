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

// Each list block reads only the pages that its limit requires.
func TestAccSSHKeyList_readsAsManyPagesAsNeeded(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The test counts keys and requests.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "small-pages", "gateway-errors"))
	w := env.Workspace(env.Provider())
	addKeys(t, env, 205)
	var blocks strings.Builder
	tests := []struct {
		outer, inner string
		found, pages int
	}{
		{"limit = 3", "", 3, 1},
		{"", "", 100, 1}, // the default limit of Terraform
		{"limit = 1000", "", 205, 2},
		{"limit = 200", "", 200, 1},
		{"limit = 1000", `name_prefix = "key-20"`, 6, 2},
		{"limit = 1", `name_prefix = "key-"`, 1, 1},
	}
	pages := 0
	for n, test := range tests {
		const block = "list \"gpurent_ssh_key\" \"n%d\" {\n  provider = gpurent\n  %s\n  config {\n    %s\n  }\n}\n"
		fmt.Fprintf(&blocks, block, n, test.outer, test.inner)
		pages += test.pages
	}
	found, err := w.Query(blocks.String())
	if err != nil {
		t.Fatal(err)
	}
	for n, test := range tests {
		if got := len(found[fmt.Sprintf("list.gpurent_ssh_key.n%d", n)]); got != test.found {
			t.Errorf("%s %s: %d results, want %d", test.outer, test.inner, got, test.found)
		}
	}
	if got := env.CountRequests("GET", "/ssh-keys"); got != pages {
		t.Errorf("%d pages, want %d", got, pages)
	}
}
