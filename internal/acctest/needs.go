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

// Needs skips the test where the CLI at hand is older than what the test needs. An
// empty version: no version of that CLI can do it.
func Needs(t testing.TB, terraform, opentofu string) {
	t.Helper()
	cli(t)
	at, err := CLI()
	if err != nil {
		t.Fatal(err)
	}
	oldest := terraform
	if at.Name == "OpenTofu" {
		oldest = opentofu
	}
	if at.Has(oldest) {
		return
	}
	t.Skipf("%s cannot do this; Terraform can from %q on, OpenTofu from %q (empty: no version)", at, terraform, opentofu)
}

// CLI is the one at hand: "Terraform" or "OpenTofu", and its version.
var CLI = sync.OnceValues(func() (CLIVersion, error) {
	told, err := exec.CommandContext(context.Background(), os.Getenv("TF_ACC_TERRAFORM_PATH"), "version").Output()
	if err != nil {
		return CLIVersion{}, err
	}
	first, _, _ := strings.Cut(string(told), "\n")
	name, number, _ := strings.Cut(strings.TrimSpace(first), " v")
	at, err := version.NewVersion(number)
	if err != nil {
		return CLIVersion{}, err
	}
	return CLIVersion{name, at.Core()}, nil
})

// CLIVersion is a version of a CLI.
type CLIVersion struct {
	Name string
	*version.Version
}

// Has says whether it has what came with this version; no version has what came
// with "".
func (c CLIVersion) Has(oldest string) bool {
	return oldest != "" && c.GreaterThanOrEqual(version.Must(version.NewVersion(oldest)))
}

func (c CLIVersion) String() string { return c.Name + " " + c.Version.String() }

// whole is set by the long runs.
var whole = flag.Bool("acctest.whole", false, "run long tests in full, and the tests of the first CLI with every CLI")

// Whole reports whether long tests run in full, as in make soak.
func Whole() bool { return *whole }

// FirstCLIOnly skips the test if the same run has already tested with another CLI.
// It is for tests of what the provider, the service or a script does, such as
// refused input, lost responses and guides, where the CLI makes no difference. A CLI
// that is tested alone runs everything, and make soak runs everything with every CLI.
func FirstCLIOnly(t testing.TB) {
	t.Helper()
	if share, _ := cliShare(); share > 1 && !*whole {
		t.Skip("the first CLI runs this test; make soak runs it with every CLI")
	}
}

// OwnShare reports whether this CLI runs the n-th of the independent cases that the
// CLIs of a run divide among them. A CLI that is tested alone runs all cases.
func OwnShare(n int) bool {
	share, of := cliShare()
	return n%of == share%of
}

// cliShare returns the position of this CLI among the CLIs of the run, from 1, and
// their number.
func cliShare() (share, of int) {
	if _, err := fmt.Sscanf(os.Getenv("GPURENT_TEST_SHARE"), "%d/%d", &share, &of); err != nil || of < 1 {
		return 1, 1
	}
	return share, of
}
