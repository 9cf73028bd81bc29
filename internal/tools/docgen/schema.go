package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// object is an object of JSON.
type object = map[string]any

// schemaFile returns the output of "terraform providers schema -json" for the provider in this process, under the name
// with which the generator finds it. An old CLI would omit the kinds of types that it does not support.
func schemaFile(ctx context.Context) ([]byte, error) {
	schema, err := providerSchema(ctx)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object{"format_version": "1.0", "provider_schemas": object{shortName: schema}})
}

// providerSchema returns the schemas of the provider as the CLI prints them, with empty values, which the CLI omits.
func providerSchema(ctx context.Context) (object, error) {
	server, err := provider.Server("docs")()
	if err != nil {
		return nil, err
	}
	types, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, err
	}
	for _, d := range append(types.Diagnostics, identities.Diagnostics...) {
		err = errors.Join(err, fmt.Errorf("%s: %s", d.Summary, d.Detail))
	}
	return object{
		"provider":                   fromSchema(types.Provider),
		"resource_schemas":           each(types.ResourceSchemas, fromSchema),
		"data_source_schemas":        each(types.DataSourceSchemas, fromSchema),
		"ephemeral_resource_schemas": each(types.EphemeralResourceSchemas, fromSchema),
		"list_resource_schemas":      each(types.ListResourceSchemas, fromSchema),
		"action_schemas":             each(types.ActionSchemas, fromAction),
		"functions":                  each(types.Functions, fromFunction),
		"resource_identity_schemas":  each(identities.IdentitySchemas, fromIdentity),
	}, err
}

// each converts the values of a map.
func each[T any](all map[string]T, convert func(T) any) object {
	converted := object{}
	for name, one := range all {
		converted[name] = convert(one)
	}
	return converted
}

func fromSchema(s *tfprotov6.Schema) any {
	return object{"version": s.Version, "block": object{
		"attributes":       fromAttributes(s.Block.Attributes),
		"description":      s.Block.Description,
		"description_kind": lower(s.Block.DescriptionKind),
	}}
}

func fromAction(s *tfprotov6.ActionSchema) any { return fromSchema(s.Schema) }

func fromAttributes(all []*tfprotov6.SchemaAttribute) object {
	converted := object{}
	for _, a := range all {
		attribute := object{
			"description": a.Description, "description_kind": lower(a.DescriptionKind),
			"required": a.Required, "optional": a.Optional, "computed": a.Computed, "sensitive": a.Sensitive,
		}
		if a.NestedType == nil {
			attribute["type"] = a.Type
		} else {
			attribute["nested_type"] = object{
				"attributes": fromAttributes(a.NestedType.Attributes), "nesting_mode": lower(a.NestedType.Nesting),
			}
		}
		converted[a.Name] = attribute
	}
	return converted
}

func fromIdentity(s *tfprotov6.ResourceIdentitySchema) any {
	attributes := object{}
	for _, a := range s.IdentityAttributes {
		attributes[a.Name] = object{
			"type": a.Type, "description": a.Description,
			"required_for_import": a.RequiredForImport, "optional_for_import": a.OptionalForImport,
		}
	}
	return object{"version": s.Version, "attributes": attributes}
}

func fromFunction(f *tfprotov6.Function) any {
	var parameters []object
	for _, p := range f.Parameters {
		parameters = append(parameters, object{
			"name": p.Name, "description": p.Description, "is_nullable": p.AllowNullValue, "type": p.Type,
		})
	}
	return object{
		"description": f.Description, "summary": f.Summary, "return_type": f.Return.Type, "parameters": parameters,
	}
}

// lower returns the JSON name of a mode or kind, which the protocol writes in capitals.
func lower(name fmt.Stringer) string { return strings.ToLower(name.String()) }
