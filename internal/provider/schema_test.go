package provider_test

import (
	"context"
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
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// typeKind is a kind of types of the provider, such as resources, with the location of their examples.
type typeKind struct {
	folder  string   // under examples/ and under docs/
	prefix  string   // of the file names of its examples
	suffix  string   // of the file names of its examples
	more    []string // additional examples on its page
	tests   string   // pattern of the test files that may run its examples
	atLeast int      // minimum number of types
}

// Examples of list resources and actions also run in tests without a CLI, because some CLIs do not support them.
const (
	acceptanceTests = "*_acc_test.go"
	allTests        = "*_test.go"
)

var (
	resources          = typeKind{"resources", "resource", ".tf", importExamples, acceptanceTests, 4}
	dataSources        = typeKind{"data-sources", "data-source", ".tf", nil, acceptanceTests, 16}
	ephemeralResources = typeKind{"ephemeral-resources", "ephemeral-resource", ".tf", nil, acceptanceTests, 1}
	listResources      = typeKind{"list-resources", "list-resource", ".tfquery.hcl", nil, allTests, 4}
	actions            = typeKind{"actions", "action", ".tf", nil, allTests, 3}
	functions          = typeKind{"functions", "function", ".tf", nil, acceptanceTests, 3}
)

// importExamples run in TestAccProvider_importExamples.
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

// Every type has a description for all its attributes, examples that a test runs, and a page that shows them.
func TestTypes_DescribedWithExamplesAndPage(t *testing.T) {
	all := schemas(t)
	checkBlock(t, "provider", all.Provider.Block)
	checkTypes(t, resources, all.ResourceSchemas, checkSchema)
	checkTypes(t, dataSources, all.DataSourceSchemas, checkSchema)
	checkTypes(t, ephemeralResources, all.EphemeralResourceSchemas, checkSchema)
	checkTypes(t, listResources, all.ListResourceSchemas, checkSchema)
	checkTypes(t, actions, all.ActionSchemas, checkAction)
	checkTypes(t, functions, all.Functions, checkFunction)
}

// Every resource has an identity, and every list resource belongs to a resource.
func TestTypes_HaveIdentity(t *testing.T) {
	all, identities := schemas(t), identities(t)
	for name := range all.ResourceSchemas {
		if identities[name] == nil {
			t.Errorf("resource %s has no identity", name)
			continue
		}
		checkIdentity(t, name, identities[name])
	}
	for name := range all.ListResourceSchemas {
		if all.ResourceSchemas[name] == nil || identities[name] == nil {
			t.Errorf("list resource %s has no resource with an identity", name)
		}
	}
}

// checkTypes checks all types of a kind: their descriptions with check, and their examples and pages.
func checkTypes[T any](t *testing.T, k typeKind, types map[string]T, check func(*testing.T, string, T)) {
	t.Helper()
	t.Run(k.folder, func(t *testing.T) {
		if len(types) < k.atLeast {
			t.Errorf("%d types, want at least %d", len(types), k.atLeast)
		}
		tests := readFiles(t, "internal", "service", "*", k.tests)
		for _, name := range slices.Sorted(maps.Keys(types)) {
			check(t, name, types[name])
			k.checkFiles(t, name, tests)
		}
		k.checkFolders(t, slices.Collect(maps.Keys(types)))
	})
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

// checkFolders checks that every folder of examples belongs to a type.
func (k typeKind) checkFolders(t *testing.T, types []string) {
	t.Helper()
	for _, folder := range listFiles(t, path.Join("examples", k.folder)) {
		if !slices.Contains(types, folder) {
			t.Errorf("examples/%s/%s belongs to no type", k.folder, folder)
		}
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
