package clis

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// program is the file name by which a CLI finds the provider.
const program = "terraform-provider-gpurent"

// configMode lets only this user read the configuration.
const configMode = 0o600

// Installed is a provider that was built from this tree.
type Installed struct {
	// Binary is the path of the program.
	Binary string
	// Config is a CLI configuration file (TF_CLI_CONFIG_FILE) with which a CLI uses the provider without a registry and
	// without init.
	Config string
}

// Install builds the provider of the module in root into the folder, with the given flags of go build.
func Install(ctx context.Context, root, folder string, flags ...string) (Installed, error) {
	installed := Installed{
		Binary: filepath.Join(folder, executable(program)),
		Config: filepath.Join(folder, "cli.tfrc"),
	}
	if err := Build(ctx, root, ".", installed.Binary, flags...); err != nil {
		return Installed{}, err
	}
	config := fmt.Sprintf(
		"provider_installation {\n  dev_overrides {\n    \"gpurent/gpurent\" = %q\n  }\n  direct {}\n}\n", folder)
	return installed, os.WriteFile(installed.Config, []byte(config), configMode)
}

// Build builds a main package of the module in root, such as "./internal/tools/demo", into a file. Like a release, the
// build uses no C compiler.
func Build(ctx context.Context, root, name, file string, flags ...string) error {
	arguments := append(append([]string{"build"}, flags...), "-o", file, name)
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // constants and own paths
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}
