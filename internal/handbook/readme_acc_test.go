package handbook_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// makefile replaces the makefile of the project: the program is already built.
const makefile = "build:\n\ttest -x bin/terraform-provider-gpurent\n"

// The commands of the README work. TestReadmes_HaveTheSameContent covers the Russian page.
func TestAccReadme(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	setup := newCLISetup(t)
	needs(t, "make")
	clone := t.TempDir()
	program := filepath.Join(clone, "bin", "terraform-provider-gpurent")
	if err := errors.Join(os.Mkdir(filepath.Dir(program), 0o700), os.Symlink(setup.program, program),
		os.WriteFile(filepath.Join(clone, "GNUmakefile"), []byte(makefile), 0o600)); err != nil {
		t.Fatal(err)
	}
	reader := guideRun{cli: setup.cli, folder: clone, minSnippets: 3, env: setup.environ(map[string]string{
		// Without a prompt.
		"TF_CLI_ARGS_apply": "-auto-approve", "TF_CLI_ARGS_destroy": "-auto-approve",
	})}
	reader.follow(t, textOf(t, filepath.Join(acctest.Root(), readmes[0])))
}
