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

// formatVersion is that of what "terraform providers schema -json" prints.
const formatVersion = "1.0"

// writeSchema asks the provider for its schema and returns the file, in the given
// folder, that holds it as the generator wants it.
func writeSchema(ctx context.Context, folder string) (string, error) {
	schema, err := askProvider(ctx)
	if err != nil {
		return "", err
	}
	content, err := json.Marshal(document{FormatVersion: formatVersion, Providers: map[string]providerJSON{shortName: schema}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "schema.json")
	return file, os.WriteFile(file, content, fileMode)
}

// askProvider asks the provider in this process for all kinds of types: a CLI
// leaves out those that it is too old to know.
func askProvider(ctx context.Context) (providerJSON, error) {
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
	if err := complaints(append(types.Diagnostics, identities.Diagnostics...)); err != nil {
		return providerJSON{}, err
	}
	return fromProvider(types, identities), nil
}

// complaints are errors and warnings alike: a schema that is whole has neither.
func complaints(diagnostics []*tfprotov6.Diagnostic) error {
	var all []error
	for _, d := range diagnostics {
		all = append(all, fmt.Errorf("%s: %s", d.Summary, d.Detail))
	}
	return errors.Join(all...)
}
