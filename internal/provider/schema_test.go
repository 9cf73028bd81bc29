package provider_test

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// kind is one kind of type a provider has, and where the house keeps its parts.
type kind struct {
	folder  string   // under examples/ and under docs/
	stem    string   // how the names of its examples begin
	end     string   // and how they end
	further []string // what its page shows besides
	tests   string   // which tests of the services may execute its examples
	least   int      // how many types there are; fewer, and the test looks at the wrong provider
}

// A CLI at hand may be too old for list resources and actions: their examples are
// taken apart and executed by tests that speak the protocol, too.
const (
	acceptanceTests = "*_acc_test.go"
	allTests        = "*_test.go"
)

var (
	resources          = kind{"resources", "resource", ".tf", importExamples, acceptanceTests, 4}
	dataSources        = kind{"data-sources", "data-source", ".tf", nil, acceptanceTests, 13}
	ephemeralResources = kind{"ephemeral-resources", "ephemeral-resource", ".tf", nil, acceptanceTests, 1}
	listResources      = kind{"list-resources", "list-resource", ".tfquery.hcl", nil, allTests, 4}
	actions            = kind{"actions", "action", ".tf", nil, allTests, 3}
	functions          = kind{"functions", "function", ".tf", nil, acceptanceTests, 5}
)

// importExamples are executed by TestAccProvider_itsImportExamplesWork.
var importExamples = []string{"import-by-string-id.tf", "import-by-identity.tf", "import.sh"}

func schemas(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	_, schemas := acctest.ProviderServer(t)
	return schemas
}

func identities(t *testing.T) map[string]*tfprotov6.ResourceIdentitySchema {
	t.Helper()
	server, err := provider.Server("test")()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.GetResourceIdentitySchemas(context.Background(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return resp.IdentitySchemas
}

// Every public type is described to its last attribute, has examples that a test
// executes, and a page of documentation that shows them.
func TestEveryTypeIsWhole(t *testing.T) {
	all := schemas(t)
	describedBlock(t, "provider", all.Provider.Block)
	checkKind(t, resources, all.ResourceSchemas, describedSchema)
	checkKind(t, dataSources, all.DataSourceSchemas, describedSchema)
	checkKind(t, ephemeralResources, all.EphemeralResourceSchemas, describedSchema)
	checkKind(t, listResources, all.ListResourceSchemas, describedSchema)
	checkKind(t, actions, all.ActionSchemas, describedAction)
	checkKind(t, functions, all.Functions, describedFunction)
}

// What can be found can be imported as it was found.
func TestEveryResourceAndListHasAnIdentity(t *testing.T) {
	all, identities := schemas(t), identities(t)
	for name := range all.ResourceSchemas {
		if identities[name] == nil {
			t.Errorf("resource %s has no identity", name)
			continue
		}
		describedIdentity(t, name, identities[name])
	}
	for name := range all.ListResourceSchemas {
		if all.ResourceSchemas[name] == nil || identities[name] == nil {
			t.Errorf("list resource %s bears the name of no resource with an identity", name)
		}
	}
}

// checkKind checks all types of a kind, each with a function that knows how it is
// described.
func checkKind[T any](t *testing.T, k kind, types map[string]T, described func(*testing.T, string, T)) {
	t.Helper()
	t.Run(k.folder, func(t *testing.T) {
		if len(types) < k.least {
			t.Errorf("%d types, want %d at least", len(types), k.least)
		}
		tests := textOf(t, "internal", "service", "*", k.tests)
		for _, name := range slices.Sorted(maps.Keys(types)) {
			described(t, name, types[name])
			k.checkFiles(t, name, tests)
		}
		k.checkFolders(t, slices.Collect(maps.Keys(types)))
	})
}

// checkFiles checks that a type has its examples and no others, that they are
// executed by the tests, whose text is given, and that its page shows them.
func (k kind) checkFiles(t *testing.T, name, tests string) {
	t.Helper()
	folder := path.Join("examples", k.folder, name)
	page := textOf(t, "docs", k.folder, strings.TrimPrefix(name, "gpurent_")+".md")
	files := slices.Sorted(slices.Values(slices.Concat(filesIn(t, folder), k.further, []string{k.stem + k.end})))
	for _, file := range slices.Compact(files) {
		example := path.Join(folder, file)
		content := strings.TrimSpace(textOf(t, example))
		switch {
		case content == "":
			t.Errorf("%s has no %s", name, example)
		case slices.Contains(k.further, file):
		case !strings.HasPrefix(file, k.stem) || !strings.HasSuffix(file, k.end):
			t.Errorf("no page shows %s: the generator looks for %s*%s", example, k.stem, k.end)
		case !strings.Contains(tests, `"`+strings.TrimPrefix(example, "examples/")+`"`):
			t.Errorf("no test executes %s: none of %s names it", example, k.tests)
		}
		if page != "" && !strings.Contains(page, content) {
			t.Errorf("the page of %s does not show %s: run make docs", name, example)
		}
	}
	if page == "" {
		t.Errorf("%s has no page in docs/%s: run make docs", name, k.folder)
	}
}

// checkFolders checks that no example is one of a type that is not there.
func (k kind) checkFolders(t *testing.T, types []string) {
	t.Helper()
	for _, folder := range filesIn(t, path.Join("examples", k.folder)) {
		if !slices.Contains(types, folder) {
			t.Errorf("examples/%s/%s is an example of nothing", k.folder, folder)
		}
	}
}

// filesIn are the names of what is in a folder of the project, none where there
// is no such folder.
func filesIn(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(acctest.Root(), filepath.FromSlash(folder), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range found {
		found[i] = filepath.Base(file)
	}
	return found
}

// textOf is the text of all files of the project whose path matches; empty where
// there is none.
func textOf(t *testing.T, pattern ...string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(acctest.Root(), filepath.Join(pattern...)))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}
