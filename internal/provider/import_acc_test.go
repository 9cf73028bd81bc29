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

// providerBlock polls without a pause. The environment has the address and the key.
const providerBlock = "provider \"gpurent\" {\n  poll_interval = \"1ms\"\n  request_timeout = \"3s\"\n}\n"

// The import examples of each resource import the resource of its example into an empty state, without a creation, also
// with a configuration that the CLI generates.
func TestAccProvider_importExamples(t *testing.T) {
	t.Parallel()
	types := slices.Sorted(maps.Keys(schemas(t).ResourceSchemas))
	var examples []string
	for _, name := range types {
		examples = append(examples, "resources/"+name+"/resource.tf")
	}
	env := acctest.Start(t)
	config := env.Example(examples...)
	origin := env.Workspace(config)
	origin.Run("apply", "-auto-approve", "-no-color")

	cli, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	importID := regexp.MustCompile(`\bid = "[^"]+"`)
	for _, file := range []string{"import-by-string-id.tf", "import-by-identity.tf"} {
		if file == "import-by-identity.tf" && !cli.Has("1.12") {
			t.Logf("%s has no import by identity", cli)
			continue
		}
		blocks := ""
		for _, name := range types {
			blocks += importID.ReplaceAllString(example(t, "resources/"+name+"/"+file), `id = "`+onlyID(t, origin, name)+`"`)
		}
		imported := env.Workspace(config + blocks)
		output := imported.Run("apply", "-auto-approve", "-no-color")
		want := fmt.Sprintf("%d imported, 0 added", len(types))
		if !strings.Contains(output, want) || !strings.Contains(output, "0 destroyed") {
			t.Errorf("%s: the output of the apply:\n%s", file, output)
		}
		if plan := imported.Run("plan", "-no-color"); !strings.Contains(plan, "No changes") {
			t.Errorf("%s: the plan after the import has changes:\n%s", file, plan)
		}
	}

	generated := providerBlock
	for _, name := range types {
		if name != "gpurent_fleet" { // its arguments cannot be read
			generated += importID.ReplaceAllString(example(t, "resources/"+name+"/import-by-string-id.tf"),
				`id = "`+onlyID(t, origin, name)+`"`)
		}
	}
	w := env.Workspace(generated)
	plan := w.Run("plan", "-no-color", "-generate-config-out=generated.tf")
	want := fmt.Sprintf("%d to import, 0 to add, 0 to change, 0 to destroy", len(types)-1)
	if !strings.Contains(plan, want) {
		t.Errorf("the generated configuration plans a change:\n%s\n%s", w.Read("generated.tf"), plan)
	}

	imported := env.Workspace(config)
	for _, name := range types {
		lines := strings.Split(strings.TrimSpace(example(t, "resources/"+name+"/import.sh")), "\n")
		command := strings.Fields(lines[len(lines)-1])
		if len(command) != 4 || command[0] != "terraform" || !strings.HasPrefix(command[2], name+".") {
			t.Fatalf("import.sh of %s ends with %q", name, command)
		}
		if name == "gpurent_fleet" || name == "gpurent_template" { // the others are imported in the same way
			imported.Run(command[1], "-no-color", command[2], onlyID(t, origin, name))
		}
	}
}

// example returns a file below examples/.
func example(t *testing.T, path string) string {
	t.Helper()
	content := readFiles(t, "examples", path)
	if content == "" {
		t.Fatalf("examples/%s is missing", path)
	}
	return content
}

// onlyID returns the id of the only resource of a type in a state.
func onlyID(t *testing.T, w *acctest.Workspace, name string) string {
	t.Helper()
	saved := acctest.SavedIn[struct{ ID string }](w, name)
	if len(saved) != 1 {
		t.Fatalf("%d of %s in the state, want 1", len(saved), name)
	}
	return saved[0].Attributes.ID
}
