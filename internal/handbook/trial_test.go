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

// exampleFolder is what users copy to test a module of their own.
const exampleFolder = "try-without-spending"

// trial is what a user's shell finds: the CLI under test under its own name, the provider built from this tree, and no
// way out of this machine.
type trial struct {
	// cli is "terraform" or "tofu"; host is what it completes a provider's address with.
	cli, host string
	// program is the provider; bin is the folder on the PATH that holds both.
	program, bin string
	// home is the reader's own; "" leaves that of whoever runs the test.
	home string
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	path := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if os.Getenv("TF_ACC") == "" || path == "" {
		t.Skip("acceptance tests run with TF_ACC=1 and TF_ACC_TERRAFORM_PATH, as make test sets them")
	}
	needs(t)
	said, err := exec.CommandContext(t.Context(), path, "version").CombinedOutput()
	if err != nil {
		t.Fatalf("%s version: %v\n%s", path, err, said)
	}
	tr := &trial{cli: "terraform", host: "registry.terraform.io", program: acctest.Binary(t), bin: t.TempDir(), home: aHome(t)}
	other := "tofu"
	if strings.Contains(string(said), "OpenTofu") {
		tr.cli, tr.host, other = "tofu", "registry.opentofu.org", "terraform"
	}
	if err := os.Symlink(path, filepath.Join(tr.bin, tr.cli)); err != nil {
		t.Fatal(err)
	}
	// What should run with one CLI must not find the other by chance.
	refusal := "#!/bin/sh\necho 'this is to run with " + tr.cli + "' >&2\nexit 97\n"
	if err := os.WriteFile(filepath.Join(tr.bin, other), []byte(refusal), 0o700); err != nil {
		t.Fatal(err)
	}
	return tr
}

// environ is the environment of a shell: nothing of a developer's settings, and an outside world that does not answer.
func (tr *trial) environ(extra map[string]string) []string {
	all := map[string]string{
		"CHECKPOINT_DISABLE": "1", acctest.NoPluginTLS: "1",
		"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1",
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "GPURENT_") && !strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			all[name] = value
		}
	}
	all["PATH"] = tr.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	if tr.home != "" {
		maps.Copy(all, atHome(tr.home))
	}
	maps.Copy(all, extra)
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, name+"="+all[name])
	}
	return pairs
}

// needs skips a test on a machine that lacks what its commands are written with.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the documentation are for a POSIX shell")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("this runs commands of the documentation, which use %s: it is not on the PATH", program)
		}
	}
}

// installed is the environment in which the provider is on the PATH, and the CLI uses it without a registry.
func (tr *trial) installed(t *testing.T) map[string]string {
	t.Helper()
	folder := filepath.Dir(tr.program)
	config := filepath.Join(t.TempDir(), "dev.tfrc")
	text := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"gpurent/gpurent\" = %q\n  }\n  direct {}\n}\n", folder)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"TF": tr.cli, "TF_CLI_CONFIG_FILE": config, "TF_VAR_poll_interval": "200ms",
		"PATH": strings.Join([]string{folder, tr.bin, os.Getenv("PATH")}, string(os.PathListSeparator)),
	}
}

// mirror returns settings with which init finds the provider on this machine.
func (tr *trial) mirror(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "mirror", tr.host, "gpurent", "gpurent", "0.1.0", runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tr.program, filepath.Join(folder, "terraform-provider-gpurent_v0.1.0")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(root, "mirror.tfrc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.Join(root, "mirror"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}
