// Package clis finds the command-line tools that can drive the provider. It uses
// Terraform and OpenTofu from PATH and builds what is missing or too old from
// source, so that a machine with only Go can run all tests and tools. It also builds the
// provider for them to use.
package clis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/hashicorp/go-version"
)

// Program names of the supported CLIs.
const (
	terraform = "terraform"
	tofu      = "tofu"
)

// cliVariable selects a single CLI, "terraform" or "tofu", and only from PATH: a
// matrix of versions must never test a version that this package built.
const cliVariable = "GPURENT_TEST_CLI"

// openTofuHost is the registry host in OpenTofu's provider addresses. The library
// of the acceptance tests assumes Terraform's host, with which OpenTofu finds no
// provider. Nothing is downloaded from it.
const openTofuHost = "registry.opentofu.org"

// CLI is an executable Terraform or OpenTofu.
type CLI struct {
	// Name is "terraform" or "tofu".
	Name string
	// Path is the path of the executable.
	Path string
	// Version is the version that the CLI reports, for example "1.11.4".
	Version string
	// BuildReason is the reason why this package built the CLI, for example "not on PATH". It is empty for a CLI from
	// PATH.
	BuildReason string
}

// ProviderHost returns the registry host that acceptance tests must be given for
// this CLI, or "" if the default is right.
func (c CLI) ProviderHost() string {
	if c.Name == tofu {
		return openTofuHost
	}
	return ""
}

// String returns the name and the version.
func (c CLI) String() string { return c.Name + " " + c.Version }

// Describe returns the name, the version and the path, and for a CLI from source
// the reason for the build.
func (c CLI) Describe() string {
	if c.BuildReason == "" {
		return fmt.Sprintf("%s (%s)", c, c.Path)
	}
	return fmt.Sprintf("%s (%s, built from source: %s)", c, c.Path, c.BuildReason)
}

// All returns the CLIs to test with, Terraform first. With GPURENT_TEST_CLI it is
// that CLI from PATH. Otherwise it is Terraform and OpenTofu, each from PATH if
// the version there supports everything that the tests cover, else built from
// source. Build messages go to progress.
func All(ctx context.Context, progress io.Writer) ([]CLI, error) {
	if name := os.Getenv(cliVariable); name != "" {
		return selected(ctx, name)
	}
	var found []CLI
	for _, s := range sources {
		cli, err := s.find(ctx, progress)
		if err != nil {
			return nil, err
		}
		found = append(found, cli)
	}
	return found, nil
}

// find returns the CLI from PATH, or builds it if PATH has none or an old one.
func (s source) find(ctx context.Context, progress io.Writer) (CLI, error) {
	cli, err := onPath(ctx, s.name)
	if errors.Is(err, exec.ErrNotFound) {
		return s.build(ctx, progress, "not on PATH")
	}
	if err != nil || s.minVersion == "" {
		return cli, err
	}
	older, err := olderThan(cli.Version, s.minVersion)
	if err != nil || !older {
		return cli, err
	}
	return s.build(ctx, progress, fmt.Sprintf("%s on PATH is older than %s", cli.Version, s.minVersion))
}

// One returns a CLI of any version, for a demonstration or a measurement: the first on PATH, else the first that is
// already built. If there is none, it builds Terraform, which is faster than OpenTofu. Build messages go to progress.
func One(ctx context.Context, progress io.Writer) (CLI, error) {
	for _, s := range sources {
		cli, err := onPath(ctx, s.name)
		if !errors.Is(err, exec.ErrNotFound) {
			return cli, err
		}
	}
	const reason = "no Terraform or OpenTofu on PATH"
	for _, s := range sources {
		built, err := s.locate(ctx)
		if err != nil {
			return CLI{}, err
		}
		if exists(built.path) {
			return s.build(ctx, progress, reason)
		}
	}
	return sources[0].build(ctx, progress, reason)
}

// selected returns the CLI of that name from PATH.
func selected(ctx context.Context, name string) ([]CLI, error) {
	if name != terraform && name != tofu {
		return nil, fmt.Errorf("%s is %q, not %q or %q", cliVariable, name, terraform, tofu)
	}
	cli, err := onPath(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cliVariable, err)
	}
	return []CLI{cli}, nil
}

func onPath(ctx context.Context, name string) (CLI, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return CLI{}, err
	}
	return identify(ctx, name, path)
}

// identify runs the CLI to read its version.
func identify(ctx context.Context, name, path string) (CLI, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "version", "-json") //nolint:gosec // a CLI from PATH or from the cache
	cmd.Env, cmd.Stdout, cmd.Stderr = Environ(), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return CLI{}, fmt.Errorf("%s version -json: %w\n%s", path, err, stderr.Bytes())
	}
	number, err := parseVersion(stdout.Bytes())
	if err != nil {
		return CLI{}, fmt.Errorf("%s version -json: %w", path, err)
	}
	return CLI{Name: name, Path: path, Version: number}, nil
}

// parseVersion reads the output of "version -json". OpenTofu uses the same field.
func parseVersion(output []byte) (string, error) {
	var parsed struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal(output, &parsed); err != nil {
		return "", err
	}
	if parsed.Version == "" {
		return "", errors.New("no terraform_version in the output")
	}
	return parsed.Version, nil
}

// olderThan compares two versions. A prerelease counts as its release, because it
// has the same features.
func olderThan(number, minVersion string) (bool, error) {
	have, err := version.NewVersion(number)
	if err != nil {
		return false, err
	}
	want, err := version.NewVersion(minVersion)
	if err != nil {
		return false, err
	}
	return have.Core().LessThan(want), nil
}
