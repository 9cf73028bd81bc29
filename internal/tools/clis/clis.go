// Package clis finds Terraform and OpenTofu on PATH, and builds what is missing or too old from source, so that a
// machine with only Go can run all tests and tools.
package clis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"golang.org/x/mod/modfile"
)

// CLI is an executable Terraform or OpenTofu.
type CLI struct {
	Name    string // "terraform" or "tofu"
	Path    string
	Version string // for example "1.11.4"
}

// String returns the name, the version and the path.
func (c CLI) String() string { return fmt.Sprintf("%s %s (%s)", c.Name, c.Version, c.Path) }

// product is a CLI, and how to build it from its tools module. Each CLI has a separate module because of its hundreds
// of dependencies.
type product struct {
	name      string // file name of the program
	supported string // oldest version for tests with any CLI
	complete  string // oldest version that supports all tests
	module    string
	pkg       string // main package
}

// products lists the CLIs in the order in which they are tested and preferred.
var products = []product{
	{
		name: "terraform", supported: "1.11.0", complete: "1.14.0", // list resources and actions
		module: "github.com/hashicorp/terraform", pkg: "github.com/hashicorp/terraform",
	},
	{
		name: "tofu", supported: "1.12.0", complete: "1.12.0",
		module: "github.com/opentofu/opentofu", pkg: "github.com/opentofu/opentofu/cmd/tofu",
	},
}

// Find returns the CLIs of a selection. A CLI that PATH does not have, or only in an old version, is built once, into
// the user's cache folder. Messages about a build go to progress.
//
//   - "one": the first supported CLI on PATH, or else Terraform;
//   - "all": Terraform and OpenTofu, each in a version that supports all tests;
//   - "terraform" or "tofu": this CLI, in whatever version PATH has, so that a matrix can test old versions.
func Find(ctx context.Context, selection string, progress io.Writer) (found []CLI, err error) {
	for _, p := range products {
		oldest := map[string]string{"one": p.supported, "all": p.complete, p.name: "0"}[selection]
		if oldest == "" {
			continue
		}
		cli, err := p.onPath(ctx, oldest)
		if cli == nil && err == nil && selection != "one" {
			cli, err = p.build(ctx, progress)
		}
		if err != nil {
			return nil, err
		}
		if cli != nil {
			found = append(found, *cli)
		}
	}
	switch {
	case selection != "one" && len(found) == 0:
		return nil, fmt.Errorf("CLI is %q, not one, all, terraform or tofu", selection)
	case selection != "one":
		return found, nil
	case len(found) > 0:
		return found[:1], nil
	}
	built, err := products[0].build(ctx, progress)
	if err != nil {
		return nil, err
	}
	return []CLI{*built}, nil
}

// One returns the CLI of the selection "one" of Find.
func One(ctx context.Context, progress io.Writer) (CLI, error) {
	found, err := Find(ctx, "one", progress)
	if err != nil {
		return CLI{}, err
	}
	return found[0], nil
}

// onPath returns the CLI from PATH, or nil if PATH has none or an older one. A prerelease counts as its release.
func (p product) onPath(ctx context.Context, oldest string) (*CLI, error) {
	path, err := exec.LookPath(p.name)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil //nolint:nilnil // the absence is no error
	}
	if err != nil {
		return nil, err
	}
	cli, err := p.identify(ctx, path)
	if err != nil {
		return nil, err
	}
	number, err := version.NewVersion(cli.Version)
	if err != nil || number.Core().LessThan(version.Must(version.NewVersion(oldest))) {
		return nil, err
	}
	return cli, nil
}

// identify runs the CLI to read its version.
func (p product) identify(ctx context.Context, path string) (*CLI, error) {
	cmd := exec.CommandContext(ctx, path, "version", "-json")
	cmd.Env, cmd.Stderr = Environ(), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s version: %w", path, err)
	}
	var parsed struct {
		Version string `json:"terraform_version"` // OpenTofu uses the same name
	}
	if err := json.Unmarshal(output, &parsed); err != nil {
		return nil, fmt.Errorf("%s version: %w", path, err)
	}
	return &CLI{Name: p.name, Path: path, Version: parsed.Version}, nil
}

// build returns the CLI in the version of its tools module from the cache folder, and builds it first if the folder
// does not have it. It builds under a temporary name, so that an interrupted build leaves no partial program. Without
// -trimpath, the build shares compiled packages with go test.
func (p product) build(ctx context.Context, progress io.Writer) (*CLI, error) {
	root, err := Root(ctx)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(root, "internal", "tools", p.name)
	number, err := p.required(filepath.Join(folder, "go.mod"))
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(cache, "terraform-provider-gpurent", p.name+"-"+number, executable(p.name))
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(progress, "Building %s %s once, which takes a few minutes: PATH has none that is new enough.\n",
			p.name, number)
		partial := fmt.Sprintf("%s.%d", path, os.Getpid())
		// Without version.dev=no, a build reports a development version.
		flag := "-ldflags=-s -w -X " + p.module + "/version.dev=no"
		if err := Build(ctx, folder, p.pkg, partial, flag); err != nil {
			return nil, err
		}
		if err := os.Rename(partial, path); err != nil {
			return nil, err
		}
	}
	return p.identify(ctx, path)
}

// required returns the version of the CLI that its tools module requires.
func (p product) required(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	parsed, err := modfile.Parse(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, require := range parsed.Require {
		if require.Mod.Path == p.module {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", file, p.module)
}

// Root returns the root folder of the module in the working directory.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	file := strings.TrimSpace(string(out))
	if err != nil || file == "" || file == os.DevNull {
		return "", errors.Join(errors.New("not inside a Go module: run this from the project's folder"), err)
	}
	return filepath.Dir(file), nil
}

// Environ returns the environment for a CLI, or for tests that start one: the environment of this process without
// variables that configure the CLI or the provider, and with the given "NAME=value" variables. The settings of a
// developer must not change the tests.
func Environ(extra ...string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "TF_") || strings.HasPrefix(variable, "GPURENT_")
	})
	// Without a check for new versions: everything runs offline.
	return slices.Concat(kept, []string{"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1"}, extra)
}

// Installed is a provider that was built from this tree.
type Installed struct {
	Binary string
	// Config is a CLI configuration file (TF_CLI_CONFIG_FILE) with which a CLI uses the provider without a registry and
	// without init.
	Config string
}

// Install builds the provider of the module in root into the folder, with the given flags of go build.
func Install(ctx context.Context, root, folder string, flags ...string) (Installed, error) {
	installed := Installed{
		Binary: filepath.Join(folder, executable("terraform-provider-gpurent")),
		Config: filepath.Join(folder, "cli.tfrc"),
	}
	if err := Build(ctx, root, ".", installed.Binary, flags...); err != nil {
		return Installed{}, err
	}
	return installed, os.WriteFile(installed.Config, []byte(DevOverrides(folder)), 0o600)
}

// DevOverrides is a CLI configuration that takes the provider from a folder.
func DevOverrides(folder string) string {
	const text = "provider_installation {\n  dev_overrides {\n    \"gpurent/gpurent\" = %q\n  }\n  direct {}\n}\n"
	return fmt.Sprintf(text, folder)
}

// Build builds a main package of the module in root into a file. Like a release, the build uses no C compiler.
func Build(ctx context.Context, root, pkg, file string, flags ...string) error {
	arguments := slices.Concat([]string{"build"}, flags, []string{"-o", file, pkg})
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // constants and own paths
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, output)
	}
	return nil
}

// executable returns the file name of a program on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
