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

// The import examples of each resource import the resource of its example into an empty state, without a creation. All
// but fleets, whose arguments cannot be read, can be imported with a configuration that the CLI generates.
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
	ids := map[string]string{}
	for _, name := range types {
		ids[name] = acctest.SavedIn[struct{ ID string }](origin, name)[0].Attributes.ID
	}
	importID := regexp.MustCompile(`\bid = "[^"]+"`)
	blocks := func(file string, types []string) (all string) {
		for _, name := range types {
			all += importID.ReplaceAllString(env.Read("resources/"+name+"/"+file), `id = "`+ids[name]+`"`)
		}
		return all
	}

	cli, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"import-by-string-id.tf", "import-by-identity.tf"} {
		if file == "import-by-identity.tf" && !cli.Has("1.12") {
			t.Logf("%s has no import by identity", cli)
			continue
		}
		imported := env.Workspace(config + blocks(file, types))
		output := imported.Run("apply", "-auto-approve", "-no-color")
		want := fmt.Sprintf("%d imported, 0 added", len(types))
		if !strings.Contains(output, want) || !strings.Contains(output, "0 destroyed") {
			t.Errorf("%s: the output of the apply:\n%s", file, output)
		}
		imported.Run("plan", "-no-color", "-detailed-exitcode")
	}

	readable := slices.DeleteFunc(slices.Clone(types), func(name string) bool { return name == "gpurent_fleet" })
	w := env.Workspace(env.Provider() + blocks("import-by-string-id.tf", readable))
	plan := w.Run("plan", "-no-color", "-generate-config-out=generated.tf")
	want := fmt.Sprintf("%d to import, 0 to add, 0 to change, 0 to destroy", len(readable))
	if !strings.Contains(plan, want) {
		t.Errorf("the generated configuration plans a change:\n%s\n%s", w.Read("generated.tf"), plan)
	}

	imported := env.Workspace(config)
	for _, name := range []string{"gpurent_fleet", "gpurent_template"} { // the others are imported in the same way
		command := regexp.MustCompile(`(?m)^terraform import (` + name + `\.\w+) \S+$`).FindStringSubmatch(
			env.Read("resources/" + name + "/import.sh"))
		if command == nil {
			t.Fatalf("import.sh of %s has no command", name)
		}
		imported.Run("import", "-no-color", command[1], ids[name])
	}
}
