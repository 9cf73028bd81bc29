package acctest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-version"
)

// Needs skips the test if the CLI is older than the given version. An empty version means that no version of that CLI
// has the feature.
func Needs(t testing.TB, terraform, opentofu string) {
	t.Helper()
	CLIPath(t)
	current, err := CLI()
	if err != nil {
		t.Fatal(err)
	}
	oldest := terraform
	if current.Name == "OpenTofu" {
		oldest = opentofu
	}
	if !current.Has(oldest) {
		t.Skipf("%s is too old: needs Terraform %q or OpenTofu %q (empty: no version)", current, terraform, opentofu)
	}
}

// CLI returns the name and version of the CLI in TF_ACC_TERRAFORM_PATH.
var CLI = sync.OnceValues(func() (CLIVersion, error) {
	output, err := exec.CommandContext(context.Background(), os.Getenv("TF_ACC_TERRAFORM_PATH"), "version").Output()
	if err != nil {
		return CLIVersion{}, err
	}
	first, _, _ := strings.Cut(string(output), "\n")
	name, number, _ := strings.Cut(strings.TrimSpace(first), " v")
	current, err := version.NewVersion(number)
	if err != nil {
		return CLIVersion{}, err
	}
	return CLIVersion{name, current.Core()}, nil
})

// CLIVersion is a version of a CLI.
type CLIVersion struct {
	Name string // "Terraform" or "OpenTofu"
	*version.Version
}

// Has reports whether the version is at least oldest. It returns false for an empty oldest.
func (c CLIVersion) Has(oldest string) bool {
	return oldest != "" && c.GreaterThanOrEqual(version.Must(version.NewVersion(oldest)))
}

func (c CLIVersion) String() string { return c.Name + " " + c.Version.String() }

// whole is set by long runs such as make soak.
var whole = flag.Bool("acctest.whole", false, "run long tests in full, and the tests of the first CLI with every CLI")

// Whole reports whether long tests run in full, as in make soak.
func Whole() bool { return *whole }

// FirstCLIOnly skips the test with all CLIs of a run but the first. It is for tests of the provider, the simulator or a
// script, such as invalid input, lost responses and guides, for which the CLI makes no difference. make soak does not
// skip them.
func FirstCLIOnly(t testing.TB) {
	t.Helper()
	if share, _ := shareOfRun(); share > 1 && !*whole {
		t.Skip("the first CLI runs this test; make soak runs it with every CLI")
	}
}

// OwnShare reports whether this CLI runs the n-th of a number of independent cases of a test with [FirstCLIOnly]. In a
// run in full, the CLIs divide the cases among them.
func OwnShare(n int) bool {
	share, of := shareOfRun()
	return !*whole || n%of == share%of
}

// shareOfRun returns the position of this CLI among the CLIs of the run, from 1, and their number.
func shareOfRun() (share, of int) {
	if _, err := fmt.Sscanf(os.Getenv("GPURENT_TEST_SHARE"), "%d/%d", &share, &of); err != nil || of < 1 {
		return 1, 1
	}
	return share, of
}
