package tfkit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Text is a text that is safe to show to users. Constants convert to it. Textf converts everything else, because a text
// of the API could contain line breaks, terminal sequences or Terraform expressions.
type Text string

// Maximum lengths of arguments in a Text, in characters.
const (
	maxArgument = 200
	maxError    = 2000
)

// Textf formats like fmt.Sprintf. It puts arguments that are not of type Text on one line, removes their control
// characters, and shortens them.
func Textf(format string, arguments ...any) Text {
	for i, argument := range arguments {
		arguments[i] = sanitizeArgument(argument)
	}
	return Text(fmt.Sprintf(format, arguments...))
}

// AddError adds an error.
func AddError(diags *diag.Diagnostics, summary, detail Text) {
	diags.AddError(string(summary), string(detail))
}

// AddWarning adds a warning.
func AddWarning(diags *diag.Diagnostics, summary, detail Text) {
	diags.AddWarning(string(summary), string(detail))
}

// AddAttributeError adds an error about an attribute.
func AddAttributeError(diags *diag.Diagnostics, at path.Path, summary, detail Text) {
	diags.AddAttributeError(at, string(summary), string(detail))
}

// AddAttributeWarning adds a warning about an attribute.
func AddAttributeWarning(diags *diag.Diagnostics, at path.Path, summary, detail Text) {
	diags.AddAttributeWarning(at, string(summary), string(detail))
}

func sanitizeArgument(argument any) any {
	switch a := argument.(type) {
	case Text:
		return string(a)
	case bool, int, int64, uint64, float64:
		return a
	case error:
		return rental.Printable(a.Error(), maxError)
	case []string:
		return string(List(a))
	}
	return rental.Printable(fmt.Sprint(argument), maxArgument)
}

// maxListed is the maximum number of elements of a list in a Text.
const maxListed = 10

// List returns the first elements of a list, separated by commas, and counts the others.
func List(elements []string) (text Text) {
	for i, element := range elements[:min(len(elements), maxListed)] {
		if i > 0 {
			text += ", "
		}
		text += Text(rental.Printable(element, maxArgument))
	}
	if more := len(elements) - maxListed; more > 0 {
		text += Textf(", … and %d more", more)
	}
	return text
}

// Lines returns an indented line for each of the first items, and the number of the others.
func Lines[T any](items []T, line func(T) Text) (lines Text) {
	for _, item := range items[:min(len(items), maxListed)] {
		lines += "\n  " + line(item)
	}
	if more := len(items) - maxListed; more > 0 {
		lines += Textf("\n  … and %d more", more)
	}
	return lines
}

// pasteable matches ids that users can safely copy into a Terraform configuration or a shell. They contain no template
// (${, %{) and no quotes, and do not begin like an option (-).
var pasteable = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:~+/=@-]{0,199}$`)

// ImportBlock returns the import block for an object of a resource type, for example "gpurent_instance", and false for
// an id that must not be copied into a configuration.
func ImportBlock(resourceType, id string) (block Text, ok bool) {
	if !pasteable.MatchString(id) {
		return "", false
	}
	return Textf("  import {\n    to = %s.NAME\n    id = \"%s\"\n  }", resourceType, id), true
}

// SameText reports whether two texts are equal except for white space, letter case and Unicode normalization.
func SameText(one, other string) bool { return bare(one) == bare(other) }

// bare returns a text as SameText compares it.
func bare(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(norm.NFC.String(text)), ""))
}

// asAPIError returns the API's error, if err contains a response of the API.
func asAPIError(err error) (*rental.Error, bool) {
	apiErr, ok := errors.AsType[*rental.Error](err)
	return apiErr, ok && apiErr.Status != 0
}
