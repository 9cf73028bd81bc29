package clis

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// program is the provider's file name, which is how a CLI recognises it.
const program = "terraform-provider-gpurent"

// configMode keeps the CLI's configuration to this user.
const configMode = 0o600

// Installed is the provider, built from this tree, for a CLI to use.
type Installed struct {
	// Binary is the provider's program.
	Binary string
	// Config is the CLI configuration file (TF_CLI_CONFIG_FILE) that makes a CLI
	// use it, without a registry and without init.
	Config string
}

// Install builds the provider of the module in root into the given folder, with
// any further flags of go build.
func Install(ctx context.Context, root, folder string, flags ...string) (Installed, error) {
	installed := Installed{
		Binary: filepath.Join(folder, executable(program)),
		Config: filepath.Join(folder, "cli.tfrc"),
	}
	if err := Build(ctx, root, ".", installed.Binary, flags...); err != nil {
		return Installed{}, err
	}
	config := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"gpurent/gpurent\" = %q\n  }\n  direct {}\n}\n", folder)
	return installed, os.WriteFile(installed.Config, []byte(config), configMode)
}

// Build builds a main package, such as "./internal/tools/demo", of the module in
// root into a file. Like the releases it needs no C compiler.
func Build(ctx context.Context, root, name, file string, flags ...string) error {
	arguments := append(append([]string{"build"}, flags...), "-o", file, name)
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // every argument is ours
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}
