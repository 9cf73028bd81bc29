package fleet_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_fleet/list-resource.tfquery.hcl"

// A query groups the members of each fleet, and the configuration that it writes imports them.
func TestAccFleetList_example(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	owner := env.Workspace(env.Config(config(2)))
	owner.Run("apply", "-auto-approve", "-no-color")

	found := env.Workspace(env.Provider()).Adopt(env.Read(listExample))
	if len(found) != 1 || !strings.Contains(found[0].Name, "train (2 members, 2 running") {
		t.Errorf("the query returned %v, want the fleet with two members", found)
	}
}
