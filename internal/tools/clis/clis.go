// Package clis finds the command-line tools that can drive the provider:
// Terraform and OpenTofu where the machine has them, else an OpenTofu built from
// source, so that a machine with only Go can run everything. It also builds the
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
)

// The programs looked for, in the order in which one is preferred.
const (
	terraform = "terraform"
	tofu      = "tofu"
)

// chosen is the variable that names the one CLI to test with, "terraform" or
// "tofu". That one must be on PATH: a test of many versions, one after the other,
// must not end up with a version of our own.
const chosen = "GPURENT_TEST_CLI"

// openTofuHost is how OpenTofu completes the provider's address. The acceptance
// tests' library assumes Terraform's own host, with which OpenTofu finds no
// provider. It is part of a name here: nothing is ever fetched from it.
const openTofuHost = "registry.opentofu.org"

// CLI is a Terraform or OpenTofu that can be run.
type CLI struct {
	// Name is "terraform" or "tofu".
	Name string
	// Path is the program's file.
	Path string
	// Version is what it says of itself, for example "1.11.4".
	Version string
}

// ProviderHost is the host in the addresses of providers where the acceptance
// tests must be told it; "" where they know it.
func (c CLI) ProviderHost() string {
	if c.Name == tofu {
		return openTofuHost
	}
	return ""
}

// String is the name and version, for people.
func (c CLI) String() string { return c.Name + " " + c.Version }

// All are the CLIs to test with: the one that GPURENT_TEST_CLI names, else every
// one on PATH, and OpenTofu built from source where PATH has none. What a build
// has to say goes to progress.
func All(ctx context.Context, progress io.Writer) ([]CLI, error) {
	if name := os.Getenv(chosen); name != "" {
		return only(ctx, name)
	}
	var found []CLI
	for _, name := range []string{terraform, tofu} {
		cli, err := onPath(ctx, name)
		if errors.Is(err, exec.ErrNotFound) && name == tofu {
			cli, err = built(ctx, progress)
		}
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, cli)
	}
	return found, nil
}

// One is a CLI to show things with: the first on PATH, else OpenTofu built from
// source. What a build has to say goes to progress.
func One(ctx context.Context, progress io.Writer) (CLI, error) {
	for _, name := range []string{terraform, tofu} {
		cli, err := onPath(ctx, name)
		if !errors.Is(err, exec.ErrNotFound) {
			return cli, err
		}
	}
	return built(ctx, progress)
}

func only(ctx context.Context, asked string) ([]CLI, error) {
	for _, name := range []string{terraform, tofu} {
		if name != asked {
			continue
		}
		cli, err := onPath(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", chosen, err)
		}
		return []CLI{cli}, nil
	}
	return nil, fmt.Errorf("%s is %q, not %q or %q", chosen, asked, terraform, tofu)
}

func onPath(ctx context.Context, name string) (CLI, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return CLI{}, err
	}
	return identify(ctx, name, path)
}

func identify(ctx context.Context, name, path string) (CLI, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "version", "-json")
	cmd.Env, cmd.Stdout, cmd.Stderr = Environ(), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return CLI{}, fmt.Errorf("%s does not say its version: %w\n%s", path, err, stderr.Bytes())
	}
	version, err := parseVersion(stdout.Bytes())
	if err != nil {
		return CLI{}, fmt.Errorf("%s version -json: %w", path, err)
	}
	return CLI{Name: name, Path: path, Version: version}, nil
}

// parseVersion reads what "version -json" prints; OpenTofu uses the same field.
func parseVersion(answer []byte) (string, error) {
	var said struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return "", err
	}
	if said.Version == "" {
		return "", errors.New("no version in the answer")
	}
	return said.Version, nil
}
