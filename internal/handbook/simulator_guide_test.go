package handbook_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
)

// The commands of the pages about the simulator work. They need no Terraform.
func TestSimulatorGuide_Commands(t *testing.T) {
	needs(t, "bash", "curl")
	bin := t.TempDir()
	program := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asBinary, os.Args[0])
	if err := os.WriteFile(filepath.Join(bin, "terraform-provider-gpurent"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	// The second page continues from the first steps of the first one.
	reader := guideRun{folder: t.TempDir(), minSnippets: 25, env: (&cliSetup{bin: bin}).environ(nil)}
	reader.follow(t, readGuide(t, "simulator.md")+readGuide(t, "simulator-control-api.md"))
}

// flagPattern matches a line of --help. Its groups are the name of the flag and its default.
var flagPattern = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)[^\n]*?(?:\(default "?([^")]+)"?\))?$`)

func TestSimulatorGuide_HasEveryFlag(t *testing.T) {
	var help, stderr bytes.Buffer
	if code := cli.Main([]string{"simulator", "--help"}, &help, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	_, table, _ := strings.Cut(readGuide(t, "simulator.md"), "## Flags\n")
	table, _, _ = strings.Cut(table, "\n## ")
	flags := flagPattern.FindAllStringSubmatch(help.String(), -1)
	for _, flag := range flags {
		_, row, there := strings.Cut(table, "| `--"+flag[1]+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if !there || flag[2] != "" && !strings.HasPrefix(row, " `"+flag[2]+"` |") {
			t.Errorf("--%s, default %q: the row is %q", flag[1], flag[2], row)
		}
	}
	if rows := strings.Count(table, "| `--"); rows != len(flags) || rows < 9 {
		t.Errorf("%d flags and %d rows", len(flags), rows)
	}
}
