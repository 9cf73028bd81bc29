package handbook_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
)

// flagPattern matches a line of --help. Its groups are the name of the flag and its default.
var flagPattern = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)[^\n]*?(?:\(default "?([^")]+)"?\))?$`)

// section returns the text of a guide below a heading, up to the next one.
func section(t *testing.T, guide, heading string) string {
	t.Helper()
	_, text, _ := strings.Cut(textOf(t, inProject("templates", "guides", guide)), "# "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n#")
	return text
}

// The tables of flags have every flag of the command, with its default.
func TestCommandLine_HasEveryFlag(t *testing.T) {
	for command, table := range map[string]string{
		"simulator": section(t, "simulator.md", "Flags"),
		"cost":      section(t, "command-line.md", "Flags of cost"),
		"unmanaged": section(t, "command-line.md", "Flags of unmanaged"),
	} {
		var help, stderr bytes.Buffer
		if code := cli.Main([]string{command, "--help"}, &help, &stderr); code != 0 {
			t.Fatalf("%s: exit %d: %s", command, code, &stderr)
		}
		flags := flagPattern.FindAllStringSubmatch(help.String(), -1)
		for _, flag := range flags {
			_, row, there := strings.Cut(table, "| `--"+flag[1]+"` |")
			if !there || flag[2] != "" && !strings.HasPrefix(row, " `"+flag[2]+"` |") {
				t.Errorf("%s --%s, default %q: the row is not in the table", command, flag[1], flag[2])
			}
		}
		if rows := strings.Count(table, "| `--"); rows != len(flags) {
			t.Errorf("%s has %d flags and %d rows", command, len(flags), rows)
		}
	}
}
