package apikey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_api_key/list-resource.tfquery.hcl"

// listBlock returns a list block with a name and arguments of its config.
func listBlock(name, arguments string) string {
	const block = "list \"gpurent_api_key\" %q {\n  provider = gpurent\n  include_resource = true\n  config {\n    %s\n " +
		" }\n}\n"
	return fmt.Sprintf(block, name, arguments)
}

func TestAccAPIKeyList_filters(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The test selects keys by their documented source.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums", "strange-neighbours"))
	w := env.Workspace(env.Provider())
	env.Post("api-keys", `{"name":"ci","scopes":["instances:read"]}`)
	env.Post("api-keys", `{"name":"ci-2","scopes":["user:read"]}`)
	env.Post("api-keys", `{"name":"и\u0306од","scopes":["user:read"]}`) // decomposed, while HCL strings are NFC-normalized
	blocks := env.Read(listExample)
	want := map[string]int{"by_hand": 1}
	for n, test := range []struct {
		arguments string
		found     int
	}{
		{`name_prefix = "ci"`, 2}, {`source = "api"`, 3}, {"name_prefix = \"ci-\"\n    source = \"api\"", 1},
		{`source = "cli"`, 0}, {`name_prefix = "йо"`, 1},
	} {
		name := fmt.Sprintf("n%d", n)
		blocks, want[name] = blocks+listBlock(name, test.arguments), test.found
	}
	found, err := w.Query(blocks)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range want {
		if got := found["list.gpurent_api_key."+name]; len(got) != n {
			t.Errorf("%s: %v, want %d results", name, got, n)
		}
	}
	if own := found["list.gpurent_api_key.by_hand"]; len(own) != 1 || own[0].Identity["id"] != env.OwnKeyID() ||
		!strings.Contains(own[0].Name, "in use here") {
		t.Errorf("%v; want the provider's own key with a note", own)
	}
}
