package acctest

import (
	"regexp"
	"strings"
)

// importedID is where an example of an import has an id.
var importedID = regexp.MustCompile(`\bid( *)= "[^"]*"`)

// Generated lets a CLI write the configuration of something that is there already,
// imports it with that, and returns the configuration. The plan of it must change
// nothing, neither with the import nor after it. How it is imported is said by an
// example of the documentation, whose id is replaced.
func (e *Env) Generated(example, id string) string {
	e.t.Helper()
	const file = "generated.tf"
	block := importedID.ReplaceAllString(e.Read(example), `id$1= "`+id+`"`)
	w := e.Workspace("provider \"gpurent\" {\n  poll_interval = \"1ms\"\n}\n" + block)
	plan := w.Run("plan", "-no-color", "-generate-config-out="+file)
	generated := w.Read(file)
	if !strings.Contains(plan, "1 to import, 0 to add, 0 to change, 0 to destroy") {
		e.t.Fatalf("the configuration that was written plans a change:\n%s\n%s", generated, plan)
	}
	w.Run("apply", "-no-color", "-auto-approve")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	return generated
}
