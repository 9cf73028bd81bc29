package apikey_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_api_key/list-resource.tfquery.hcl"

// The list contains all keys, and marks the key of the provider.
func TestAccAPIKeyList_marksOwnKey(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	w := env.Workspace(env.Provider())
	env.Post("api-keys", `{"name":"ci","scopes":["instances:read"]}`)
	found, err := w.Query(env.Read(listExample))
	if err != nil {
		t.Fatal(err)
	}
	keys := found["list.gpurent_api_key.all"]
	if len(keys) != 2 {
		t.Errorf("%v, want 2 results", keys)
	}
	for _, key := range keys {
		own := key.Identity["id"] == env.OwnKeyID()
		if strings.Contains(key.Name, "in use here") != own {
			t.Errorf("the display name of a key is %q, own key: %t", key.Name, own)
		}
	}
}
