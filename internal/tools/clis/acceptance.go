package clis

import (
	"runtime"
	"strconv"
)

// AcceptanceTests is how the names of acceptance tests begin, as a regular
// expression; "TestAccount" is none.
const AcceptanceTests = "TestAcc[A-Z]"

// CLITests is how the names of all tests begin that need a CLI: acceptance tests, and those that only make soak runs.
const CLITests = "Test(Acc|Nightly)[A-Z]"

// AcceptanceFlags are the flags of go test with which acceptance tests are run.
func AcceptanceFlags() []string {
	return []string{
		"-p=" + strconv.Itoa(runtime.NumCPU()+1), // packages at once: some of them mostly wait
		// Tests of a package at once. They wait for processes to start more than they
		// compute, so two a core are faster than one.
		"-parallel=8",
		"-ldflags=-s -w", // a test binary per package is linked in half the time
		"-run=^" + AcceptanceTests,
	}
}

// AcceptanceEnv is the environment of acceptance tests with this CLI and a provider
// that was built for all of them.
func (c CLI) AcceptanceEnv(provider Installed) []string {
	// CLIs live for a second, hundreds of them: to collect garbage as eagerly as by
	// default is a quarter of their work.
	env := []string{"TF_ACC=1", "TF_ACC_TERRAFORM_PATH=" + c.Path, "GOGC=400", "GPURENT_TEST_BINARY=" + provider.Binary}
	if host := c.ProviderHost(); host != "" {
		env = append(env, "TF_ACC_PROVIDER_HOST="+host)
	}
	return env
}
