package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// formatVersion is the version of the output of "terraform providers schema -json".
const formatVersion = "1.0"

// writeSchema writes the provider's schema to a file in the folder, in the format of the CLI, and returns the file.
func writeSchema(ctx context.Context, folder string) (string, error) {
	schema, err := providerSchema(ctx)
	if err != nil {
		return "", err
	}
	providers := map[string]providerJSON{shortName: schema}
	content, err := json.Marshal(document{FormatVersion: formatVersion, Providers: providers})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "schema.json")
	return file, os.WriteFile(file, content, fileMode)
}

// providerSchema returns the schema of all kinds of types from the provider in this process. An old CLI omits the kinds
// that it does not support.
func providerSchema(ctx context.Context) (providerJSON, error) {
	server, err := provider.Server("docs")()
	if err != nil {
		return providerJSON{}, err
	}
	types, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return providerJSON{}, err
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return providerJSON{}, err
	}
	if err := diagnosticsError(append(types.Diagnostics, identities.Diagnostics...)); err != nil {
		return providerJSON{}, err
	}
	return fromProvider(types, identities), nil
}

// diagnosticsError returns an error for all errors and warnings: a valid schema has neither.
func diagnosticsError(diagnostics []*tfprotov6.Diagnostic) error {
	var all []error
	for _, d := range diagnostics {
		all = append(all, fmt.Errorf("%s: %s", d.Summary, d.Detail))
	}
	return errors.Join(all...)
}
