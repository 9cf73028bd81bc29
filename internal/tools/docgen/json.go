package main

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The types below have the JSON format in which a CLI prints a provider's schema. Like the CLI, they omit zero values.
// They have what this provider uses: no blocks, no deprecated or write-only attributes, no variadic functions. A test
// compares them with the output of the CLI.

type document struct {
	FormatVersion string                  `json:"format_version"`
	Providers     map[string]providerJSON `json:"provider_schemas"`
}

type providerJSON struct {
	Provider           schemaJSON              `json:"provider"`
	Resources          map[string]schemaJSON   `json:"resource_schemas,omitempty"`
	DataSources        map[string]schemaJSON   `json:"data_source_schemas,omitempty"`
	EphemeralResources map[string]schemaJSON   `json:"ephemeral_resource_schemas,omitempty"`
	ListResources      map[string]schemaJSON   `json:"list_resource_schemas,omitempty"`
	Actions            map[string]actionJSON   `json:"action_schemas,omitempty"`
	Functions          map[string]functionJSON `json:"functions,omitempty"`
	Identities         map[string]identityJSON `json:"resource_identity_schemas,omitempty"`
}

type schemaJSON struct {
	Version int64     `json:"version"`
	Block   blockJSON `json:"block"`
}

type actionJSON struct {
	Block blockJSON `json:"block"`
}

type blockJSON struct {
	Attributes      map[string]attributeJSON `json:"attributes,omitempty"`
	Description     string                   `json:"description,omitempty"`
	DescriptionKind string                   `json:"description_kind"`
}

// attributeJSON has either a type or a nested type.
type attributeJSON struct {
	Type            tftypes.Type `json:"type,omitempty"`
	NestedType      *objectJSON  `json:"nested_type,omitempty"`
	Description     string       `json:"description,omitempty"`
	DescriptionKind string       `json:"description_kind"`
	Required        bool         `json:"required,omitempty"`
	Optional        bool         `json:"optional,omitempty"`
	Computed        bool         `json:"computed,omitempty"`
	Sensitive       bool         `json:"sensitive,omitempty"`
}

type objectJSON struct {
	Attributes  map[string]attributeJSON `json:"attributes"`
	NestingMode string                   `json:"nesting_mode"`
}

type identityJSON struct {
	Version    int64                            `json:"version"`
	Attributes map[string]identityAttributeJSON `json:"attributes"`
}

type identityAttributeJSON struct {
	Type              tftypes.Type `json:"type"`
	Description       string       `json:"description,omitempty"`
	RequiredForImport bool         `json:"required_for_import,omitempty"`
	OptionalForImport bool         `json:"optional_for_import,omitempty"`
}

type functionJSON struct {
	Description string          `json:"description,omitempty"`
	Summary     string          `json:"summary,omitempty"`
	ReturnType  tftypes.Type    `json:"return_type"`
	Parameters  []parameterJSON `json:"parameters,omitempty"`
}

type parameterJSON struct {
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	IsNullable  bool         `json:"is_nullable,omitempty"`
	Type        tftypes.Type `json:"type"`
}

// fromProvider converts the schemas of a provider.
func fromProvider(
	types *tfprotov6.GetProviderSchemaResponse, identities *tfprotov6.GetResourceIdentitySchemasResponse,
) providerJSON {
	return providerJSON{
		Provider:           fromSchema(types.Provider),
		Resources:          each(types.ResourceSchemas, fromSchema),
		DataSources:        each(types.DataSourceSchemas, fromSchema),
		EphemeralResources: each(types.EphemeralResourceSchemas, fromSchema),
		ListResources:      each(types.ListResourceSchemas, fromSchema),
		Actions: each(types.ActionSchemas, func(s *tfprotov6.ActionSchema) actionJSON {
			return actionJSON{Block: fromBlock(s.Schema.Block)}
		}),
		Functions:  each(types.Functions, fromFunction),
		Identities: each(identities.IdentitySchemas, fromIdentity),
	}
}

// each converts the values of a map.
func each[From, To any](all map[string]From, convert func(From) To) map[string]To {
	converted := map[string]To{}
	for name, one := range all {
		converted[name] = convert(one)
	}
	return converted
}

func fromSchema(s *tfprotov6.Schema) schemaJSON {
	return schemaJSON{Version: s.Version, Block: fromBlock(s.Block)}
}

func fromBlock(b *tfprotov6.SchemaBlock) blockJSON {
	return blockJSON{
		Attributes:      fromAttributes(b.Attributes),
		Description:     b.Description,
		DescriptionKind: lower(b.DescriptionKind),
	}
}

func fromAttributes(all []*tfprotov6.SchemaAttribute) map[string]attributeJSON {
	converted := map[string]attributeJSON{}
	for _, a := range all {
		attribute := attributeJSON{
			Type:            a.Type,
			Description:     a.Description,
			DescriptionKind: lower(a.DescriptionKind),
			Required:        a.Required,
			Optional:        a.Optional,
			Computed:        a.Computed,
			Sensitive:       a.Sensitive,
		}
		if nested := a.NestedType; nested != nil {
			attribute.NestedType = &objectJSON{
				Attributes: fromAttributes(nested.Attributes), NestingMode: lower(nested.Nesting),
			}
		}
		converted[a.Name] = attribute
	}
	return converted
}

func fromIdentity(s *tfprotov6.ResourceIdentitySchema) identityJSON {
	identity := identityJSON{Version: s.Version, Attributes: map[string]identityAttributeJSON{}}
	for _, a := range s.IdentityAttributes {
		identity.Attributes[a.Name] = identityAttributeJSON{
			Type: a.Type, Description: a.Description,
			RequiredForImport: a.RequiredForImport, OptionalForImport: a.OptionalForImport,
		}
	}
	return identity
}

func fromFunction(f *tfprotov6.Function) functionJSON {
	function := functionJSON{Description: f.Description, Summary: f.Summary, ReturnType: f.Return.Type}
	for _, p := range f.Parameters {
		function.Parameters = append(function.Parameters, parameterJSON{
			Name: p.Name, Description: p.Description, IsNullable: p.AllowNullValue, Type: p.Type,
		})
	}
	return function
}

// lower returns the JSON name of a mode or kind, which the protocol writes in capitals.
func lower(name interface{ String() string }) string { return strings.ToLower(name.String()) }
