package provider_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// typeKind is a kind of types of the provider, such as resources, with the location of their examples.
type typeKind struct {
	folder string   // under examples/ and under docs/
	prefix string   // of the file names of its examples
	suffix string   // of the file names of its examples
	more   []string // additional examples on its page
	tests  string   // pattern of the test files that may run its examples
}

// Examples of list resources and actions also run in tests without a CLI, because some CLIs do not support them.
const (
	acceptanceTests = "*_acc_test.go"
	allTests        = "*_test.go"
)

var (
	resources          = typeKind{"resources", "resource", ".tf", importExamples, acceptanceTests}
	dataSources        = typeKind{"data-sources", "data-source", ".tf", nil, acceptanceTests}
	ephemeralResources = typeKind{"ephemeral-resources", "ephemeral-resource", ".tf", nil, acceptanceTests}
	listResources      = typeKind{"list-resources", "list-resource", ".tfquery.hcl", nil, allTests}
	actions            = typeKind{"actions", "action", ".tf", nil, allTests}
	functions          = typeKind{"functions", "function", ".tf", nil, acceptanceTests}
)

// importExamples run in TestAccProvider_importExamples.
var importExamples = []string{"import-by-string-id.tf", "import-by-identity.tf", "import.sh"}

func schemas(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	_, schemas := acctest.ProviderServer(t)
	return schemas
}

// Every type has a description for all its attributes, examples that a test runs, and a page that shows them.
func TestTypes_DescribedWithExamplesAndPage(t *testing.T) {
	all := schemas(t)
	checkSchema(t, "provider", all.Provider)
	checkTypes(t, resources, all.ResourceSchemas, checkSchema)
	checkTypes(t, dataSources, all.DataSourceSchemas, checkSchema)
	checkTypes(t, ephemeralResources, all.EphemeralResourceSchemas, checkSchema)
	checkTypes(t, listResources, all.ListResourceSchemas, checkSchema)
	checkTypes(t, actions, all.ActionSchemas, func(t *testing.T, name string, action *tfprotov6.ActionSchema) {
		checkSchema(t, name, action.Schema)
	})
	checkTypes(t, functions, all.Functions, checkFunction)
}

// Every resource has an identity, and every list resource belongs to a resource.
func TestTypes_HaveIdentity(t *testing.T) {
	server, all := acctest.ProviderServer(t)
	resp, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	identities := must(t, resp, err).IdentitySchemas
	for name := range all.ResourceSchemas {
		if identities[name] == nil || len(identities[name].IdentityAttributes) == 0 {
			t.Errorf("resource %s has no identity", name)
			continue
		}
		for _, a := range identities[name].IdentityAttributes {
			checkDescription(t, name+", identity, "+a.Name, a.Name, a.Description)
		}
	}
	for name := range all.ListResourceSchemas {
		if identities[name] == nil {
			t.Errorf("list resource %s has no resource with an identity", name)
		}
	}
}

// checkTypes checks all types of a kind: their descriptions with check, and their examples and pages.
func checkTypes[T any](t *testing.T, k typeKind, types map[string]T, check func(*testing.T, string, T)) {
	t.Helper()
	tests := readFiles(t, "internal", "service", "*", k.tests)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		check(t, name, types[name])
		k.checkFiles(t, name, tests)
	}
	if folders := listFiles(t, path.Join("examples", k.folder)); len(folders) != len(types) || len(types) == 0 {
		t.Errorf("%d types have the examples %v", len(types), folders)
	}
}

// usesProvider matches an example that is a complete configuration.
var usesProvider = regexp.MustCompile(`(?m)^(resource|data|ephemeral) "gpurent_`)

// checkFiles checks that a type has its examples and no others, that its page shows them, and that tests, the text of
// the test files, runs them.
func (k typeKind) checkFiles(t *testing.T, name, tests string) {
	t.Helper()
	folder := path.Join("examples", k.folder, name)
	page := readFiles(t, "docs", k.folder, strings.TrimPrefix(name, "gpurent_")+".md")
	files := slices.Sorted(slices.Values(slices.Concat(listFiles(t, folder), k.more, []string{k.prefix + k.suffix})))
	for _, file := range slices.Compact(files) {
		example := path.Join(folder, file)
		content := strings.TrimSpace(readFiles(t, example))
		switch {
		case content == "":
			t.Errorf("%s has no %s", name, example)
		case slices.Contains(k.more, file):
		case !strings.HasPrefix(file, k.prefix) || !strings.HasSuffix(file, k.suffix):
			t.Errorf("no page shows %s, want the name %s*%s", example, k.prefix, k.suffix)
		case !strings.Contains(tests, `"`+strings.TrimPrefix(example, "examples/")+`"`):
			t.Errorf("no test runs %s: no file %s contains it", example, k.tests)
		case usesProvider.MatchString(content) && !strings.Contains(content, "provider \"gpurent\" {}\n"):
			t.Errorf("%s has no provider block: the CLI would explain that before each error of the provider", example)
		}
		if page != "" && !strings.Contains(page, content) {
			t.Errorf("the page of %s does not show %s: run make docs", name, example)
		}
	}
	if page == "" {
		t.Errorf("%s has no page in docs/%s: run make docs", name, k.folder)
	}
}

// listFiles returns the names of the files in a folder of the repository; none if the folder does not exist.
func listFiles(t *testing.T, folder string) []string {
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

// readFiles returns the text of all files of the repository that match a pattern; empty without a match.
func readFiles(t *testing.T, pattern ...string) string {
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
