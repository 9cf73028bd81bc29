package handbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
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
