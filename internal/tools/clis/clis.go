// Package clis finds Terraform and OpenTofu on PATH, and builds what is missing or too old from source, so that a
// machine with only Go can run all tests and tools. It also builds the provider for them to use.
package clis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
)

// Program names of the supported CLIs.
const (
	terraform = "terraform"
	tofu      = "tofu"
)

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
	// BuildReason is the reason why this package built the CLI, for example "tofu is not on PATH". It is empty for a CLI
	// from PATH.
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

// Find returns the CLIs of a selection. A CLI that PATH does not have, or only in an old version, comes from the user's
// cache folder, and is built for it if necessary. Build messages go to progress.
//
//   - "one": the first supported CLI on PATH, else the first in the cache, else Terraform, which builds faster;
//   - "all": Terraform and OpenTofu, each in a version that supports all tests;
//   - "terraform" or "tofu": this CLI, in whatever version PATH has, so that a matrix can test old versions.
func Find(ctx context.Context, selection string, progress io.Writer) ([]CLI, error) {
	if selection == "one" {
		cli, err := One(ctx, progress)
		return []CLI{cli}, err
	}
	var found []CLI
	for _, s := range sources {
		minVersion := s.complete
		if selection == s.name {
			minVersion = ""
		} else if selection != "all" {
			continue
		}
		cli, missing, err := s.onPath(ctx, minVersion)
		if missing != "" {
			cli, err = s.build(ctx, progress, missing)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, cli)
	}
	if found == nil {
		return nil, fmt.Errorf("CLI is %q, not one, all, %s or %s", selection, terraform, tofu)
	}
	return found, nil
}

// One returns the CLI of the selection "one" of Find.
func One(ctx context.Context, progress io.Writer) (CLI, error) {
	var reasons []string
	for _, s := range sources {
		cli, missing, err := s.onPath(ctx, s.supported)
		if missing == "" {
			return cli, err
		}
		reasons = append(reasons, missing)
	}
	chosen := sources[0]
	for _, s := range slices.Backward(sources) {
		built, err := s.locate(ctx)
		if err != nil {
			return CLI{}, err
		}
		if exists(built.path) {
			chosen = s
		}
	}
	return chosen.build(ctx, progress, strings.Join(reasons, ", "))
}

// onPath returns the CLI from PATH, or the reason why PATH does not have it in at least the given version, "" for any.
func (s source) onPath(ctx context.Context, minVersion string) (cli CLI, missing string, err error) {
	path, err := exec.LookPath(s.name)
	if errors.Is(err, exec.ErrNotFound) {
		return CLI{}, s.name + " is not on PATH", nil
	}
	if err != nil {
		return CLI{}, "", err
	}
	if cli, err = identify(ctx, s.name, path); err != nil || minVersion == "" {
		return cli, "", err
	}
	older, err := olderThan(cli.Version, minVersion)
	if older {
		missing = fmt.Sprintf("%s on PATH is older than %s", cli, minVersion)
	}
	return cli, missing, err
}

// identify runs the CLI to read its version.
func identify(ctx context.Context, name, path string) (CLI, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "version", "-json")
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
