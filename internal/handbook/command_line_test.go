package handbook_test

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// flagPattern matches a line of --help. Its groups are the name of the flag and its default.
var flagPattern = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)[^\n]*?(?:\(default "?([^")]+)"?\))?$`)

// The tables of flags have every flag of the command, with its default.
func TestCommandLine_HasEveryFlag(t *testing.T) {
	for command, page := range map[string]struct {
		guide, heading string
	}{
		"simulator": {"simulator.md", "## Flags\n"},
		"cost":      {"command-line.md", "### Flags of cost\n"},
		"unmanaged": {"command-line.md", "### Flags of unmanaged\n"},
	} {
		var help, stderr bytes.Buffer
		if code := cli.Main([]string{command, "--help"}, &help, &stderr); code != 0 {
			t.Fatalf("%s: exit %d: %s", command, code, &stderr)
		}
		table := sectionOf(readGuide(t, page.guide), page.heading)
		flags := flagPattern.FindAllStringSubmatch(help.String(), -1)
		for _, flag := range flags {
			_, row, there := strings.Cut(table, "| `--"+flag[1]+"` |")
			row, _, _ = strings.Cut(row, "\n")
			if !there || flag[2] != "" && !strings.HasPrefix(row, " `"+flag[2]+"` |") {
				t.Errorf("%s --%s, default %q: the row is %q", command, flag[1], flag[2], row)
			}
		}
		if rows := strings.Count(table, "| `--"); rows != len(flags) {
			t.Errorf("%s has %d flags and %d rows", command, len(flags), rows)
		}
	}
}

// sectionOf returns the text below a heading up to the next one.
func sectionOf(page, heading string) string {
	_, section, _ := strings.Cut(page, heading)
	end := regexp.MustCompile(`(?m)^#`).FindStringIndex(section)
	if end == nil {
		return section
	}
	return section[:end[0]]
}

// The page describes every field of the JSON formats, and every value of an action and a basis.
func TestCommandLine_HasEveryField(t *testing.T) {
	page := readGuide(t, "command-line.md")
	for heading, format := range map[string]reflect.Type{
		"### JSON of cost\n":      reflect.TypeFor[cost.Report](),
		"### JSON of unmanaged\n": reflect.TypeFor[unmanaged.Document](),
	} {
		_, table, _ := strings.Cut(sectionOf(page, heading), "| field | meaning |")
		for _, name := range fieldsOf(format) {
			if name != "format_version" && !strings.Contains(table, "`"+name+"`") {
				t.Errorf("%s: the table has no `%s`", strings.TrimSpace(heading), name)
			}
		}
	}
	for _, value := range []cost.Action{
		cost.Unchanged, cost.Create, cost.Replace, cost.ReplaceForget, cost.Update, cost.Start, cost.Stop, cost.Wait,
		cost.Destroy, cost.Forget, cost.Unknown,
	} {
		if !strings.Contains(page, "`"+string(value)+"`") {
			t.Errorf("the page has no action `%s`", value)
		}
	}
}

// fieldsOf returns the names of all fields of a JSON format, also of the types in it.
func fieldsOf(format reflect.Type) (names []string) {
	switch format.Kind() {
	case reflect.Pointer, reflect.Slice:
		return fieldsOf(format.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	for n := range format.NumField() {
		field := format.Field(n)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" {
			names = append(names, name)
		}
		if name != "" || field.Anonymous {
			names = append(names, fieldsOf(field.Type)...)
		}
	}
	return names
}
