package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_instance/list-resource.tfquery.hcl"

func TestAccInstanceList_withoutScope(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	narrow := env.Workspace(env.ProviderWithKey(env.Secret(`{"name":"narrow","scopes":["user:read"]}`)))
	if _, err := narrow.Query(env.Read(listExample)); !strings.Contains(fmt.Sprint(err), "lacks the scope") {
		t.Errorf("without the scope: %v", err)
	}
}

func TestAccInstanceList_import(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// Instances of neighbours, and an instance whose response lacks required arguments, cannot be imported.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	w := env.Workspace(env.Provider())
	// A running, a stopped and a nameless instance, and one that is being destroyed.
	ids := createInstances(env, "by-hand", "by-hand-2", "", "by-hand-3")
	setStatus(t, env, ids[1], "stopped", "stopped")
	setStatus(t, env, ids[3], "destroying", "destroyed")
	env.ClearRequests()
	found := w.Adopt(env.Read(listExample))
	if len(found) != 3 {
		t.Fatalf("%d results, want 3", len(found))
	}
	for _, f := range found {
		if !strings.Contains(f.Name, " × ") || !strings.Contains(f.Name, " per hour") ||
			!strings.Contains(f.Name, fmt.Sprint(f.Resource["status"])) {
			t.Errorf("the display name %q lacks the GPU, the price or the status", f.Name)
		}
	}
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 0 {
		t.Errorf("%d writes", n)
	}
}
