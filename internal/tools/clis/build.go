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
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// source describes how to build a CLI from a tools module. Each CLI has a separate module because it has hundreds of
// dependencies.
type source struct {
	name      string // program name
	product   string // product name for messages
	supported string // oldest version to test with if no CLI is selected
	complete  string // oldest version that supports all tests
	folder    string // tools module, relative to the repository
	module    string // module that the tools module requires
	pkg       string // main package
	ldflags   string
}

// sources lists the CLIs in the order in which they are tested and preferred. Without
// version.dev=no a build reports a development version.
var sources = []source{
	{
		name: terraform, product: "Terraform", supported: "1.11.0", complete: "1.14.0", // list resources and actions
		folder:  "internal/tools/terraform",
		module:  "github.com/hashicorp/terraform",
		pkg:     "github.com/hashicorp/terraform",
		ldflags: "-s -w -X github.com/hashicorp/terraform/version.dev=no",
	},
	{
		name: tofu, product: "OpenTofu", supported: "1.12.0", complete: "1.12.0",
		folder:  "internal/tools/tofu",
		module:  "github.com/opentofu/opentofu",
		pkg:     "github.com/opentofu/opentofu/cmd/tofu",
		ldflags: "-s -w -X github.com/opentofu/opentofu/version.dev=no",
	},
}

const (
	cacheFolder  = "terraform-provider-gpurent"
	cacheDirMode = 0o755
	lockRetry    = 500 * time.Millisecond
)

// artifact is the result of a build: a version of the CLI in the user's cache folder.
type artifact struct {
	folder  string // tools module
	path    string // executable
	version string // for example "v1.15.9"
}

// locate returns where the version that the tools module requires is cached.
func (s source) locate(ctx context.Context) (artifact, error) {
	root, err := Root(ctx)
	if err != nil {
		return artifact{}, err
	}
	folder := filepath.Join(root, filepath.FromSlash(s.folder))
	number, err := s.requiredVersion(ctx, folder)
	if err != nil {
		return artifact{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return artifact{}, fmt.Errorf("no cache folder for %s: %w", s.product, err)
	}
	path := filepath.Join(cache, cacheFolder, s.name+"-"+number, executable(s.name))
	return artifact{folder: folder, path: path, version: number}, nil
}

// build returns the CLI from the user's cache folder and builds it first if the
// folder does not contain it.
func (s source) build(ctx context.Context, progress io.Writer, reason string) (CLI, error) {
	built, err := s.locate(ctx)
	if err != nil {
		return CLI{}, err
	}
	if err := s.buildOnce(ctx, progress, built, reason); err != nil {
		return CLI{}, fmt.Errorf("building %s %s: %w", s.product, built.version, err)
	}
	cli, err := identify(ctx, s.name, built.path)
	cli.BuildReason = reason
	return cli, err
}

// buildOnce makes sure that the executable exists. If several processes need it at
// the same time, one of them builds it and the others wait.
func (s source) buildOnce(ctx context.Context, progress io.Writer, built artifact, reason string) (err error) {
	if exists(built.path) {
		return nil
	}
	folder := filepath.Dir(built.path)
	if err := os.MkdirAll(folder, cacheDirMode); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return fmt.Errorf("waiting for another build: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if exists(built.path) {
		return nil // built by another process in the meantime
	}
	_, err = fmt.Fprintf(progress, "Building %s %s once, which takes a few minutes (%s) ...\n",
		s.product, built.version, reason)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := s.goBuild(ctx, progress, built); err != nil {
		return err
	}
	_, err = fmt.Fprintf(progress, "Built %s %s in %s.\n", s.product, built.version, time.Since(begin).Round(time.Second))
	return err
}

// goBuild builds in a temporary folder and then renames the executable, so that
// an interrupted build leaves no partial executable. Without -trimpath the build
// shares the compiled packages of go test.
func (s source) goBuild(ctx context.Context, progress io.Writer, built artifact) (err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(built.path), "build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	fresh := filepath.Join(scratch, filepath.Base(built.path))
	//nolint:gosec // constants and own paths
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags="+s.ldflags, "-o", fresh, s.pkg)
	cmd.Dir, cmd.Stdout, cmd.Stderr = built.folder, progress, progress
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.Rename(fresh, built.path)
}

// Root returns the root folder of the module in the working directory.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == "" || file == os.DevNull {
		return "", errors.New("not inside a Go module: run this from the project's folder")
	}
	return filepath.Dir(file), nil
}

// requiredVersion returns the version of the CLI that the tools module requires.
// It does not resolve the module, so that a cached CLI works offline.
func (s source) requiredVersion(ctx context.Context, folder string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "edit", "-json")
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("reading go.mod of %s: %w", s.folder, err)
	}
	number, err := requirement(out, s.module)
	if err != nil {
		return "", fmt.Errorf("go.mod of %s: %w", s.folder, err)
	}
	return number, nil
}

// requirement finds a module's version in the output of "go mod edit -json".
func requirement(goMod []byte, module string) (string, error) {
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(goMod, &file); err != nil {
		return "", err
	}
	for _, require := range file.Require {
		if require.Path == module {
			return require.Version, nil
		}
	}
	return "", fmt.Errorf("%s is not required", module)
}

func exists(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// executable returns the file name of a program on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
