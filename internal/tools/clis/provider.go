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

// Install builds the provider of the module in root into the given folder.
func Install(ctx context.Context, root, folder string) (Installed, error) {
	installed := Installed{
		Binary: filepath.Join(folder, executable(program)),
		Config: filepath.Join(folder, "cli.tfrc"),
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", installed.Binary, ".") //nolint:gosec // every argument is ours
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return Installed{}, fmt.Errorf("go build: %w\n%s", err, output)
	}
	config := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"gpurent/gpurent\" = %q\n  }\n  direct {}\n}\n", folder)
	return installed, os.WriteFile(installed.Config, []byte(config), configMode)
}
