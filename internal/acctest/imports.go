package acctest

import (
	"regexp"
	"strings"
)

// importedID matches the id in an example of an import.
var importedID = regexp.MustCompile(`\bid( *)= "[^"]*"`)

// Generated imports an existing item with the import block of an example, in which it replaces the id, and with a
// configuration that the CLI generates. It returns that configuration. The plans during and after the import must be
// empty.
func (e *Env) Generated(example, id string) string {
	e.t.Helper()
	const file = "generated.tf"
	block := importedID.ReplaceAllString(e.Read(example), `id$1= "`+id+`"`)
	w := e.Workspace("provider \"gpurent\" {\n  poll_interval = \"1ms\"\n}\n" + block)
	plan := w.Run("plan", "-no-color", "-generate-config-out="+file)
	generated := w.Read(file)
	if !strings.Contains(plan, "1 to import, 0 to add, 0 to change, 0 to destroy") {
		e.t.Fatalf("the generated configuration plans a change:\n%s\n%s", generated, plan)
	}
	w.Run("apply", "-no-color", "-auto-approve")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	return generated
}
