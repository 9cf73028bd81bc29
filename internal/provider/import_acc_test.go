package provider_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// fast is a provider that polls without a pause; the rest is in the environment.
const fast = "provider \"gpurent\" {\n  poll_interval = \"1ms\"\n  request_timeout = \"3s\"\n}\n"

// What the example of each resource makes, its import examples bring into a state
// that knows nothing of it, and nothing is made anew.
func TestAccProvider_itsImportExamplesWork(t *testing.T) {
	types := slices.Sorted(maps.Keys(schemas(t).ResourceSchemas))
	config := fast
	for _, name := range types {
		config += example(t, "resources/"+name+"/resource.tf")
	}
	env := acctest.Start(t)
	origin := env.Workspace(config)
	origin.Run("apply", "-auto-approve", "-no-color")

	at, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	anID := regexp.MustCompile(`\bid = "[^"]+"`)
	for file, row := range map[string]string{"import-by-string-id.tf": rowImport, "import-by-identity.tf": rowIdentity} {
		if !at.Has(versions(t)[row][at.Name]) {
			t.Logf("%s is too old for %s", at, file)
			continue
		}
		blocks := ""
		for _, name := range types {
			blocks += anID.ReplaceAllString(example(t, "resources/"+name+"/"+file), `id = "`+onlyID(t, origin, name)+`"`)
		}
		imported := env.Workspace(config + blocks)
		if said := imported.Run("apply", "-auto-approve", "-no-color"); !strings.Contains(said, fmt.Sprintf("%d imported, 0 added", len(types))) || !strings.Contains(said, "0 destroyed") {
			t.Errorf("%s: the apply said:\n%s", file, said)
		}
		if plan := imported.Run("plan", "-no-color"); !strings.Contains(plan, "No changes") {
			t.Errorf("%s: the plan after the import has changes:\n%s", file, plan)
		}
	}

	imported := env.Workspace(config)
	for _, name := range types {
		lines := strings.Split(strings.TrimSpace(example(t, "resources/"+name+"/import.sh")), "\n")
		command := strings.Fields(lines[len(lines)-1])
		if len(command) != 4 || command[0] != "terraform" {
			t.Fatalf("import.sh of %s ends with %q", name, command)
		}
		imported.Run(command[1], "-no-color", command[2], onlyID(t, origin, name))
	}
	if plan := imported.Run("plan", "-no-color"); !strings.Contains(plan, "0 to add") || !strings.Contains(plan, "0 to destroy") {
		t.Errorf("import.sh: the plan after the import:\n%s", plan)
	}
}

// An empty id is refused before a request is sent.
func TestAccProvider_emptyImportIDs(t *testing.T) {
	env := acctest.Start(t)
	config, types := fast, slices.Sorted(maps.Keys(schemas(t).ResourceSchemas))
	for _, name := range types {
		config += example(t, "resources/"+name+"/resource.tf")
	}
	w := env.Workspace(config)
	at, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	const refusal = "Error: Empty import id"
	if output, err := w.Try("import", "-no-color", "gpurent_instance.trainer", ""); err == nil || !strings.Contains(output, refusal) {
		t.Errorf("import command: %v: %s", err, output)
	}
	anID := regexp.MustCompile(`\bid( *)= "[^"]+"`)
	for file, row := range map[string]string{"import-by-string-id.tf": rowImport, "import-by-identity.tf": rowIdentity} {
		if !at.Has(versions(t)[row][at.Name]) {
			continue
		}
		blocks := ""
		for _, name := range types {
			blocks += anID.ReplaceAllString(example(t, "resources/"+name+"/"+file), `id$1= " "`)
		}
		w.Configure(config + blocks)
		output, err := w.Try("plan", "-no-color")
		if n := strings.Count(output, refusal); err == nil || n != len(types) {
			t.Errorf("%s: %v, %d refusals, want %d: %s", file, err, n, len(types), output)
		}
	}
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests, want none: %v", n, env.Requests())
	}
}

// example is a file below examples/.
func example(t *testing.T, path string) string {
	t.Helper()
	content := textOf(t, "examples", path)
	if content == "" {
		t.Fatalf("there is no examples/%s", path)
	}
	return content
}

// onlyID is the id of the only resource of a type in a state.
func onlyID(t *testing.T, w *acctest.Workspace, name string) string {
	t.Helper()
	saved := acctest.SavedIn[struct{ ID string }](w, name)
	if len(saved) != 1 {
		t.Fatalf("%d of %s in the state, want 1", len(saved), name)
	}
	return saved[0].Attributes.ID
}
