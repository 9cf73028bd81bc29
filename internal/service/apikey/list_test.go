package apikey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_api_key/list-resource.tfquery.hcl"

func TestAPIKeyList_example(t *testing.T) {
	env := acctest.Start(t)
	env.Post("api-keys", `{"name":"ci","scopes":["instances:read"]}`)
	found, err := env.Protocol().Found(env.Example(listExample), "list.gpurent_api_key.by_hand")
	if err != nil || len(found) != 1 || found[0].Identity["id"] != env.OwnKeyID() || !strings.Contains(found[0].Name, "in use here") {
		t.Errorf("%v, %v; want the provider's own key alone, and told apart", found, err)
	}
}

func TestAPIKeyList_whatIsFoundIsAdoptedAsItIs(t *testing.T) {
	env := acctest.Start(t)
	env.Post("api-keys", `{"name":"ci","scopes":["instances:read","billing:read"],"expires_in_days":30}`)
	env.Post("api-keys", `{"name":"ci-2","scopes":["user:read"]}`)
	env.Post("api-keys", `{"name":"и\u0306од","scopes":["user:read"]}`) // a letter in two parts, which configurations hold as one
	cli := env.Protocol()
	for inner, want := range map[string]int{`name_prefix = "ci"`: 2, `source = "api"`: 3, "name_prefix = \"ci-\"\n    source = \"api\"": 1, `source = "cli"`: 0, `name_prefix = "йо"`: 1} {
		found, err := cli.Found(fmt.Sprintf("list \"gpurent_api_key\" \"x\" {\n  provider = gpurent\n  include_resource = true\n  config {\n    %s\n  }\n}\n", inner), "list.gpurent_api_key.x")
		if err != nil || len(found) != want {
			t.Errorf("%s: %d found, %v, want %d", inner, len(found), err, want)
		}
		for _, f := range found {
			if adopted, diags := cli.Adopt("", f); acctest.Failed(diags) || len(adopted.Changes) > 0 || adopted.State["secret"] != nil {
				t.Errorf("%s: the plan changes %v: %s", f.Name, adopted.Changes, acctest.Said(diags))
			}
		}
	}
	if _, err := cli.Found("list \"gpurent_api_key\" \"x\" {\n  provider = gpurent\n  config {\n    source = \"mail\"\n  }\n}\n", "list.gpurent_api_key.x"); err == nil {
		t.Error("a source that does not exist passes")
	}
}

func TestAccAPIKeyList_example(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	w := env.Workspace(env.Provider())
	if found, err := w.Found(env.Read(listExample), "list.gpurent_api_key.by_hand"); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
