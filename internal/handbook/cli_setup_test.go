package handbook_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// exampleFolder is the example that users copy to test their own modules.
const exampleFolder = "try-without-spending"

// cliSetup is the environment of a shell: the CLI under test and the provider built from this tree on the PATH, and no
// network.
type cliSetup struct {
	// cli is "terraform" or "tofu"; host is the default registry host of provider addresses.
	cli, host string
	// program is the provider binary; bin is the folder with the CLI on the PATH.
	program, bin string
	// home is the home folder; "" keeps the one of the test process. The provider is in its plugin folder, which both CLIs
	// use as a mirror of their registry.
	home string
	// archive is the provider as a release publishes it.
	archive string
}

func newCLISetup(t *testing.T) *cliSetup {
	t.Helper()
	path := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if os.Getenv("TF_ACC") == "" || path == "" {
		t.Skip("acceptance tests run with TF_ACC=1 and TF_ACC_TERRAFORM_PATH, as make test sets them")
	}
	needs(t)
	output, err := exec.CommandContext(t.Context(), path, "version").CombinedOutput()
	if err != nil {
		t.Fatalf("%s version: %v\n%s", path, err, output)
	}
	setup := &cliSetup{
		cli:     "terraform",
		host:    "registry.terraform.io",
		program: acctest.Binary(t),
		bin:     t.TempDir(),
	}
	other := "tofu"
	if strings.Contains(string(output), "OpenTofu") {
		setup.cli, setup.host, other = "tofu", "registry.opentofu.org", "terraform"
	}
	if err := os.Symlink(path, filepath.Join(setup.bin, setup.cli)); err != nil {
		t.Fatal(err)
	}
	setup.archive = archive(t, setup.program)
	setup.home = setup.newHome(t)
	// Commands for one CLI must not run the other one.
	refusal := "#!/bin/sh\necho 'the test runs with " + setup.cli + "' >&2\nexit 97\n"
	if err := os.WriteFile(filepath.Join(setup.bin, other), []byte(refusal), 0o700); err != nil {
		t.Fatal(err)
	}
	return setup
}

// environ returns the environment of a shell, without the developer's settings and with a proxy that does not respond.
func (setup *cliSetup) environ(extra map[string]string) []string {
	all := map[string]string{
		"CHECKPOINT_DISABLE": "1", acctest.NoPluginTLS: "1",
		"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1",
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "GPURENT_") &&
			!strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			all[name] = value
		}
	}
	all["PATH"] = setup.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	if setup.home != "" {
		maps.Copy(all, homeEnv(setup.home))
	}
	maps.Copy(all, extra)
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, name+"="+all[name])
	}
	return pairs
}

// needs skips a test on a machine that lacks one of the programs.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the documentation are for a POSIX shell")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the commands of the documentation need %s, which is not on the PATH", program)
		}
	}
}

// withProgram returns variables with the provider's program and the CLI on the PATH.
func (setup *cliSetup) withProgram() map[string]string {
	folders := []string{filepath.Dir(setup.program), setup.bin, os.Getenv("PATH")}
	return map[string]string{
		"TF": setup.cli, "TF_VAR_poll_interval": "200ms", "PATH": strings.Join(folders, string(os.PathListSeparator)),
	}
}

// withDevOverrides returns variables with which the CLI uses the provider on the PATH without a registry.
func (setup *cliSetup) withDevOverrides(t *testing.T) map[string]string {
	t.Helper()
	folder := filepath.Dir(setup.program)
	config := filepath.Join(t.TempDir(), "dev.tfrc")
	text := fmt.Sprintf(
		"provider_installation {\n  dev_overrides {\n    \"gpurent/gpurent\" = %q\n  }\n  direct {}\n}\n",
		folder,
	)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := setup.withProgram()
	variables["TF_CLI_CONFIG_FILE"] = config
	return variables
}
