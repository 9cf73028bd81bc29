package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A query lists and imports running, stopped and nameless instances, without those that are being destroyed and, on
// request, those that are named as members of a fleet.
func TestAccInstanceList_import(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// Instances of neighbours, and an instance whose response lacks required arguments, cannot be imported.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	w := env.Workspace(env.Provider())
	ids := createInstances(env, "by-hand", "by-hand-2", "", "by-hand-3", "train-0", "Train-12", "train-01")
	setStatus(t, env, ids[1], "stopped", "stopped")
	setStatus(t, env, ids[3], "destroying", "destroyed")
	env.ClearRequests()
	example := env.Read("list-resources/gpurent_instance/list-resource.tfquery.hcl")
	excluding := strings.Replace(example, "  limit ", "  config {\n    exclude_fleets = [\"train\"]\n  }\n  limit ", 1)
	found := w.Adopt(excluding)
	if len(found) != 4 {
		t.Errorf("%d results, want 4: %v", len(found), found)
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
