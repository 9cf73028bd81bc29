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
)

const (
	// toolModule is the folder of the module that names the OpenTofu to build. It
	// is a module of its own because its dependencies are hundreds.
	toolModule   = "internal/tools/tofu"
	tofuModule   = "github.com/opentofu/opentofu"
	tofuPackage  = tofuModule + "/cmd/tofu"
	cacheFolder  = "terraform-provider-gpurent"
	cacheDirMode = 0o755
)

// built is OpenTofu from the user's cache folder, built first if it is not there.
func built(ctx context.Context, progress io.Writer) (CLI, error) {
	root, err := Root(ctx)
	if err != nil {
		return CLI{}, err
	}
	source := filepath.Join(root, filepath.FromSlash(toolModule))
	version, err := requiredVersion(ctx, source)
	if err != nil {
		return CLI{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return CLI{}, fmt.Errorf("no place for OpenTofu: %w", err)
	}
	folder := filepath.Join(cache, cacheFolder, "tofu-"+version)
	program := filepath.Join(folder, executable(tofu))
	if err := buildOnce(ctx, progress, source, program, version); err != nil {
		return CLI{}, fmt.Errorf("building OpenTofu %s: %w", version, err)
	}
	return identify(ctx, tofu, program)
}

// buildOnce makes sure that the program is there. Of several processes that want
// it at the same time one builds and the others wait.
func buildOnce(ctx context.Context, progress io.Writer, source, program, version string) (err error) {
	if exists(program) {
		return nil
	}
	folder := filepath.Dir(program)
	if err := os.MkdirAll(folder, cacheDirMode); err != nil {
		return err
	}
	held, err := lock(ctx, filepath.Join(folder, "lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if exists(program) {
		return nil // another process built it while this one waited
	}
	say := func(format string, args ...any) error {
		_, err := fmt.Fprintf(progress, format, args...)
		return err
	}
	if err := say("No tofu on PATH: building OpenTofu %s once, which takes some minutes ...\n", version); err != nil {
		return err
	}
	begin := time.Now()
	if err := goBuild(ctx, progress, source, program); err != nil {
		return err
	}
	return say("Built OpenTofu %s in %s.\n", version, time.Since(begin).Round(time.Second))
}

// goBuild builds beside the final place and renames, so that a build that was
// cut off leaves nothing that looks finished.
func goBuild(ctx context.Context, progress io.Writer, source, program string) (err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(program), "build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	fresh := filepath.Join(scratch, filepath.Base(program))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", fresh, tofuPackage) //nolint:gosec // every argument is ours
	cmd.Dir, cmd.Stdout, cmd.Stderr = source, progress, progress
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.Rename(fresh, program)
}

// Root is the folder of the module this process was started in.
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

// requiredVersion is the version of OpenTofu that the tool module names. It is
// read without resolving the module: the cache must answer offline.
func requiredVersion(ctx context.Context, source string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "edit", "-json")
	cmd.Dir = source
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("reading go.mod of %s: %w", toolModule, err)
	}
	return versionOf(out, tofuModule)
}

// versionOf finds a requirement in what "go mod edit -json" prints.
func versionOf(goMod []byte, module string) (string, error) {
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
	return "", fmt.Errorf("%s does not require %s", toolModule, module)
}

func exists(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// executable is the file name of a program on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
