package handbook_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The commands of the pages about the simulator work. They need no Terraform.
func TestSimulatorGuide_Commands(t *testing.T) {
	needs(t, "bash", "curl")
	bin := t.TempDir()
	program := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asBinary, os.Args[0])
	if err := os.WriteFile(filepath.Join(bin, "terraform-provider-gpurent"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"simulator.md": 3, "simulator-control-api.md": 25} {
		reader := guideRun{folder: t.TempDir(), minSnippets: least, env: (&cliSetup{bin: bin}).environ(nil)}
		reader.follow(t, readGuide(t, name))
	}
}

// recipe matches a row of the table of faults. Its groups are the method, the path and the body of the call.
var recipe = regexp.MustCompile("(?m)^\\| [^|]+ \\| `([A-Z]+) (/[^`]+)` \\| (?:`(.+)`)? ?\\|$")

// The simulator accepts each call of the table of faults.
func TestSimulatorGuide_Recipes(t *testing.T) {
	service := acctest.Start(t, acctest.WithoutQuirks("all"))
	offer := service.CheapestOffer("rtx_4090", "on_demand").ID
	rows := recipe.FindAllStringSubmatch(readGuide(t, "simulator-control-api.md"), -1)
	for _, row := range rows {
		address := service.ControlURL + strings.ReplaceAll(row[2], "{id}", offer)
		req, err := http.NewRequestWithContext(t.Context(), row[1], address, strings.NewReader(row[3]))
		if err != nil {
			t.Fatal(err)
		}
		if row[3] != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode/100 != 2 {
			t.Errorf("%s: %s", row[0], resp.Status)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(rows) < 15 {
		t.Errorf("only %d rows were found", len(rows))
	}
	if err := service.SetAccount(simulator.AccountPatch{Blocked: new(false)}); err != nil {
		t.Error(err)
	}
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
