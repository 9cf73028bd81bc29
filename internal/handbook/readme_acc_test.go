package handbook_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// makefile is the makefile of the project, without the build: the program is already built.
const makefile = "include %s/GNUmakefile\nbuild:\n\ttest -x bin/terraform-provider-gpurent\n"

// The commands of the README work. TestReadmes_HaveTheSameContent covers the Russian page.
func TestAccReadme(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	setup := newCLISetup(t)
	needs(t, "make")
	reader := *setup
	reader.home = t.TempDir() // without the provider
	clone := t.TempDir()
	program := filepath.Join(clone, "bin", "terraform-provider-gpurent")
	if err := errors.Join(os.Mkdir(filepath.Dir(program), 0o700), os.Symlink(setup.program, program),
		os.WriteFile(filepath.Join(clone, "GNUmakefile"), fmt.Appendf(nil, makefile, acctest.Root()), 0o600)); err != nil {
		t.Fatal(err)
	}
	run := guideRun{folder: clone, fast: true, minSnippets: 3, services: map[string]string{
		realServices[0]: acctest.Start(t, acctest.WithoutQuirks("all")).BaseURL,
	}}
	run.env = reader.environ(setup.guideVariables(nil))
	reader.follow(t, run, textOf(t, filepath.Join(acctest.Root(), readmes[0])))
}
