package handbook_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// built stands in for the project's own makefile, in a folder that the test can throw away: what it would build is there.
const built = "build:\n\ttest -x bin/terraform-provider-gpurent\n"

// What the README's first configuration says, happens; the page in the other language has the same commands.
func TestAccReadme(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	tr := newTrial(t)
	needs(t, "make")
	clone := t.TempDir()
	program := filepath.Join(clone, "bin", "terraform-provider-gpurent")
	if err := errors.Join(os.Mkdir(filepath.Dir(program), 0o700), os.Symlink(tr.program, program),
		os.WriteFile(filepath.Join(clone, "GNUmakefile"), []byte(built), 0o600)); err != nil {
		t.Fatal(err)
	}
	reader := guideRun{cli: tr.cli, folder: clone, least: 3, env: tr.environ(map[string]string{
		// Nobody is there to say yes.
		"TF_CLI_ARGS_apply": "-auto-approve", "TF_CLI_ARGS_destroy": "-auto-approve",
	})}
	reader.follow(t, textOf(t, filepath.Join(acctest.Root(), readmes[0])))
}
