package handbook_test

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// testVersion is the version of the provider in the tests. The documented version constraints accept it.
const testVersion = "0.1.0"

// cliSetup is the environment of a shell: the CLI under test and the provider built from this tree on the PATH, and no
// network.
type cliSetup struct {
	// cli is "terraform" or "tofu"; host is the default registry host of provider addresses.
	cli, host string
	// program is the provider binary; bin is the folder with the CLI on the PATH.
	program, bin string
}

func newCLISetup(t *testing.T) *cliSetup {
	t.Helper()
	path := acctest.CLIPath(t)
	needs(t, "bash", "curl")
	cli, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	setup := &cliSetup{cli: "terraform", host: "registry.terraform.io", program: acctest.Binary(t), bin: t.TempDir()}
	other := "tofu"
	if cli.Name == "OpenTofu" {
		setup.cli, setup.host, other = "tofu", "registry.opentofu.org", "terraform"
	}
	if err := os.Symlink(path, filepath.Join(setup.bin, setup.cli)); err != nil {
		t.Fatal(err)
	}
	// Commands for one CLI must not run the other one.
	write(t, "#!/bin/sh\necho 'the test runs with "+setup.cli+"' >&2\nexit 97\n", setup.bin, other)
	return setup
}

// newHome creates a home folder, so that tests neither read nor change the logins and CLI settings of the developer.
// "terraform init" installs the provider from its plugin folder.
func (setup *cliSetup) newHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	write(t, rentaltest.PublicKey+"\n", home, ".ssh", "id_ed25519.pub")
	write(t, "", home, ".ssh", "id_ed25519")
	plugin := filepath.Join(home, ".terraform.d", "plugins", setup.host, "gpurent", "gpurent", testVersion,
		runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(setup.program, filepath.Join(plugin, "terraform-provider-gpurent_v"+testVersion)); err != nil {
		t.Fatal(err)
	}
	return home
}

// environ returns the environment of a shell with a home folder, or with that of the test process for "": without the
// developer's settings, and with a proxy that does not respond.
func (setup *cliSetup) environ(home string, extra map[string]string) []string {
	all := map[string]string{
		"CHECKPOINT_DISABLE": "1", acctest.NoPluginTLS: "1", "TF": setup.cli, "TF_VAR_poll_interval": "200ms",
		"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1",
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "GPURENT_") &&
			!strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			all[name] = value
		}
	}
	all["PATH"] = strings.Join([]string{filepath.Dir(setup.program), setup.bin, os.Getenv("PATH")}, ":")
	if home != "" {
		all["HOME"], all["XDG_CONFIG_HOME"] = home, filepath.Join(home, ".config")
		all["XDG_DATA_HOME"] = filepath.Join(home, ".local", "share")
	}
	maps.Copy(all, extra)
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, name+"="+all[name])
	}
	return pairs
}

// devOverrides writes a configuration with which the CLI uses the provider without a registry and init.
func (setup *cliSetup) devOverrides(t *testing.T) string {
	t.Helper()
	return write(t, clis.DevOverrides(filepath.Dir(setup.program)), t.TempDir(), "dev.tfrc")
}
