package instance_test

import (
	"fmt"
	"slices"
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

// The names of fleets leave out the instances that are named as their members, and no others.
func TestAccInstanceList_excludeFleets(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	w := env.Workspace(env.Provider())
	names := []string{"train-0", "Train-12", "train-1-0", "train-01", "train-", "trainer-0", "serve-0", ""}
	ids := createInstances(env, names...)
	const all = "list \"gpurent_instance\" \"all\" {\n  provider = gpurent\n  %s\n}\n"
	for excluded, want := range map[string][]string{
		"": names, "[]": names, `["train"]`: names[2:], `["train", "serve"]`: append(slices.Clone(names[2:6]), ""),
		`["train-1"]`: slices.Concat(names[:2], names[3:]), `["other"]`: names,
	} {
		excluding := ""
		if excluded != "" {
			excluding = "config {\n    exclude_fleets = " + excluded + "\n  }"
		}
		found, err := w.Query(fmt.Sprintf(all, excluding))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found["list.gpurent_instance.all"] {
			got = append(got, names[slices.Index(ids, f.Identity["id"].(string))])
		}
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("without %s: got %q, want %q", excluded, got, want)
		}
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
