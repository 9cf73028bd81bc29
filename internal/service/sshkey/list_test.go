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

// addKeys adds so many keys by hand.
func addKeys(t *testing.T, env *acctest.Env, count int) {
	t.Helper()
	for n := range count {
		seed := make([]byte, ed25519.SeedSize)
		seed[0], seed[1] = byte(n), byte(n>>8)
		key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(seed).Public())
		if err != nil {
			t.Fatal(err)
		}
		env.Post("ssh-keys", fmt.Sprintf(`{"name":"key-%d","public_key":"ssh-ed25519 %s"}`, n, base64.StdEncoding.EncodeToString(key.Marshal())))
	}
}

const listExample = "list-resources/gpurent_ssh_key/list-resource.tfquery.hcl"

func TestSSHKeyList_whatIsFoundIsAdoptedAsItIs(t *testing.T) {
	env := acctest.Start(t)
	addKeys(t, env, 2)
	cli := env.Protocol()
	found, err := cli.Found(strings.Replace(env.Read(listExample), "= gpurent\n", "= gpurent\n  include_resource = true\n", 1), "list.gpurent_ssh_key.all")
	if err != nil || len(found) != 2 {
		t.Fatalf("%d found, %v", len(found), err)
	}
	for _, f := range found {
		if !strings.HasPrefix(f.Name, "key-") || !strings.Contains(f.Name, "(ssh-ed25519 SHA256:") {
			t.Errorf("%q does not tell which key it is", f.Name)
		}
		if adopted, diags := cli.Adopt("", f); acctest.Failed(diags) || len(adopted.Changes) > 0 {
			t.Errorf("%s: the plan changes %v: %s", f.Name, adopted.Changes, acctest.Said(diags))
		}
	}
}

// A list reads no more than it is asked for, and all of it where it is asked.
func TestSSHKeyList_readsAsManyPagesAsNeeded(t *testing.T) {
	env := acctest.Start(t)
	addKeys(t, env, 205)
	for _, test := range []struct {
		outer, inner string
		found, pages int
	}{
		{"limit = 3", "", 3, 1},
		{"", "", 100, 1}, // what a CLI asks for by default
		{"limit = 1000", "", 205, 2},
		{"limit = 200", "", 200, 1},
		{"limit = 1000", `name_prefix = "key-20"`, 6, 2},
		{"limit = 1", `name_prefix = "key-"`, 1, 1},
	} {
		before := env.CountRequests("GET", "/ssh-keys")
		found, err := env.Protocol().Found(fmt.Sprintf("list \"gpurent_ssh_key\" \"all\" {\n  provider = gpurent\n  %s\n  config {\n    %s\n  }\n}\n", test.outer, test.inner), "list.gpurent_ssh_key.all")
		if pages := env.CountRequests("GET", "/ssh-keys") - before; err != nil || len(found) != test.found || pages != test.pages {
			t.Errorf("%s %s: %d found with %d requests, %v; want %d with %d", test.outer, test.inner, len(found), pages, err, test.found, test.pages)
		}
	}
}

func TestAccSSHKeyList_example(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	w := env.Workspace(env.Provider())
	addKeys(t, env, 2)
	if found, err := w.Found(env.Read(listExample), "list.gpurent_ssh_key.all"); err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
}
