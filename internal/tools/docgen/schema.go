package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// configuration makes a CLI load the provider.
const configuration = `terraform {
  required_providers {
    gpurent = { source = "gpurent/gpurent" }
  }
}
`

// described are the parts of a provider that every supported CLI tells of. Some
// newer CLIs tell more: that is left out, since documents must not depend on the
// CLI at hand. What is missing here is described by templates of its own.
var described = []string{"provider", "resource_schemas", "data_source_schemas", "ephemeral_resource_schemas", "functions"}

// writeSchema builds the provider, asks a CLI for its schema and returns the
// file that holds it, as the generator wants it.
func writeSchema(ctx context.Context, root, folder string) (string, error) {
	cli, err := clis.One(ctx, os.Stderr)
	if err != nil {
		return "", err
	}
	installed, err := clis.Install(ctx, root, folder)
	if err != nil {
		return "", err
	}
	work := filepath.Join(folder, "schema")
	if err := os.Mkdir(work, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(work, "main.tf"), []byte(configuration), fileMode); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, cli.Path, "providers", "schema", "-json") //nolint:gosec // a CLI that clis found
	cmd.Dir, cmd.Env, cmd.Stderr = work, clis.Environ("TF_CLI_CONFIG_FILE="+installed.Config), os.Stderr
	told, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s providers schema: %w", cli, err)
	}
	schema, err := forGenerator(told)
	if err != nil {
		return "", fmt.Errorf("%s providers schema: %w", cli, err)
	}
	file := filepath.Join(work, "schema.json")
	return file, os.WriteFile(file, schema, fileMode)
}

// forGenerator renames the only provider of a schema, which each CLI names by a
// registry host of its own, to its short name, and keeps what is described.
func forGenerator(told []byte) ([]byte, error) {
	var schema struct {
		FormatVersion string                                `json:"format_version"`
		Providers     map[string]map[string]json.RawMessage `json:"provider_schemas"`
	}
	if err := json.Unmarshal(told, &schema); err != nil {
		return nil, err
	}
	if len(schema.Providers) != 1 {
		return nil, fmt.Errorf("%d providers in the answer, want 1", len(schema.Providers))
	}
	for _, parts := range schema.Providers {
		maps.DeleteFunc(parts, func(part string, _ json.RawMessage) bool { return !slices.Contains(described, part) })
		schema.Providers = map[string]map[string]json.RawMessage{provider: parts}
	}
	return json.Marshal(schema)
}
