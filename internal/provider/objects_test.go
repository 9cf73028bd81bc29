package provider_test

import (
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// leastItem has the required fields of every item of the API, and none that is optional.
const leastItem = `{"id":"anything","slug":"anything","name":"anything","prefix":"anything","status":"running",` +
	`"fingerprint":"SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo","type":"on_demand","available":true,` +
	`"gpu":{"slug":"l40s","count":1},"price":{"on_demand_kop_h":1}}`

// A computed object is never null, after an import too: an expression that refers to an attribute of a null object
// fails every plan, and the destruction. The test reads the least that the API may return for every type with objects.
func TestTypes_ComputedObjectsAreNeverNull(t *testing.T) {
	one := simtest.Respond(http.StatusOK, leastItem)
	env := acctest.Start(t, acctest.Intercept(
		simtest.Request("GET", "/me").Do(one), simtest.Request("GET", "/[^/]+/.+").Do(one),
		simtest.Request("GET", ".*").Do(simtest.Respond(http.StatusOK, `{"data":[`+leastItem+`],"next_cursor":null}`)),
	))
	p := run(t, env)
	for name, schema := range p.DataSourceSchemas {
		resp, err := p.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
			TypeName: name, Config: acctest.Pack(t, acctest.Value(schema.ValueType(), lookups(schema)[0])),
		})
		must(t, resp, err)
		state, err := resp.State.Unmarshal(schema.ValueType())
		n := checkObjects(t, name, schema.Block.Attributes, must(t, state, err))
		if (name == "gpurent_instance" || name == "gpurent_offers") && n == 0 {
			t.Errorf("%s: no object was checked", name)
		}
	}
	for name, schema := range p.ResourceSchemas {
		if name == "gpurent_fleet" {
			continue // it has no such object, and would not be found
		}
		read, diags := p.Refresh(acctest.Object{Type: name, State: p.Value(name, map[string]any{"id": "anything"})})
		if read.State.IsNull() {
			t.Fatal(name, texts(diags))
		}
		checkObjects(t, name, schema.Block.Attributes, read.State)
	}
}

// isObject reports whether an attribute is an object that only the provider sets.
func isObject(a *tfprotov6.SchemaAttribute) bool {
	return a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle && a.Computed &&
		!a.Optional
}

// checkObjects checks the computed objects in the value of a schema at a path, and returns their number.
func checkObjects(t *testing.T, at string, schema []*tfprotov6.SchemaAttribute, value tftypes.Value) (n int) {
	t.Helper()
	var values map[string]tftypes.Value
	if err := value.As(&values); err != nil {
		t.Fatal(at, err)
	}
	for _, a := range schema {
		at, value := at+"."+a.Name, values[a.Name]
		var elements []tftypes.Value
		switch {
		case isObject(a) && value.IsNull():
			t.Errorf("%s is null", at)
		case isObject(a):
			n += 1 + checkObjects(t, at, a.NestedType.Attributes, value)
		case a.NestedType != nil && a.Computed && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeList:
			if err := value.As(&elements); err != nil {
				t.Fatal(at, err)
			}
			for _, element := range elements {
				n += checkObjects(t, at, a.NestedType.Attributes, element)
			}
		}
	}
	return n
}
