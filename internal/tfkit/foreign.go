package tfkit

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Texts of the service are data. An attribute keeps them as they came. A diagnostic, a progress message or code to copy
// takes them only through the functions of this file: they could hold line breaks, terminal sequences or Terraform
// expressions.

// maxShown is how many characters of a text of the service a message shows.
const maxShown = 200

// OneLine returns a text of the service for a message: on one line, without control characters, and not longer than
// maxShown characters.
func OneLine[T ~string](text T) string { return rental.Printable(string(text), maxShown) }

// pasteable matches the ids that can be copied into a Terraform configuration or a shell: an id has no other meaning
// there. In particular it is no template (${, %{), no quoted text and no option (-).
var pasteable = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:~+/=@-]{0,199}$`)

// ImportBlock returns the import block for an object of a resource type, for example "gpurent_instance", and false for
// an id that must not be copied into a configuration.
func ImportBlock(resourceType, id string) (block string, ok bool) {
	if !pasteable.MatchString(id) {
		return "", false
	}
	return fmt.Sprintf("  import {\n    to = %s.NAME\n    id = \"%s\"\n  }", resourceType, id), true
}

// OneLines returns a list of texts of the service for a message, of which it names a few.
func OneLines[T ~string](texts []T) string {
	var shown []string
	for _, text := range texts[:min(len(texts), maxTold)] {
		shown = append(shown, OneLine(text))
	}
	return strings.Join(shown, ", ") + andMore(", ", len(texts))
}
