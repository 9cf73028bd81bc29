package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// One type of each kind, in the format of the newest CLI.
func TestFromProvider(t *testing.T) {
	types := &tfprotov6.GetProviderSchemaResponse{
		Provider: described("The provider."),
		ResourceSchemas: map[string]*tfprotov6.Schema{"x_server": {Version: 2, Block: &tfprotov6.SchemaBlock{
			Deprecated: true,
			Attributes: []*tfprotov6.SchemaAttribute{
				{Name: "id", Type: tftypes.String, Computed: true},
				{
					Name: "tags", Type: tftypes.Map{ElementType: tftypes.String}, Optional: true,
					Description: "Tags.", DescriptionKind: tfprotov6.StringKindMarkdown,
				},
				{Name: "secret", Type: tftypes.String, Required: true, Sensitive: true, WriteOnly: true, Deprecated: true},
				{Name: "disks", Optional: true, NestedType: &tfprotov6.SchemaObject{
					Nesting:    tfprotov6.SchemaObjectNestingModeList,
					Attributes: []*tfprotov6.SchemaAttribute{{Name: "size_gb", Type: tftypes.Number, Required: true}},
				}},
			},
			BlockTypes: []*tfprotov6.SchemaNestedBlock{{
				TypeName: "timeouts", Nesting: tfprotov6.SchemaNestedBlockNestingModeSingle, MaxItems: 1,
				Block: &tfprotov6.SchemaBlock{},
			}},
		}}},
		DataSourceSchemas:        map[string]*tfprotov6.Schema{"x_offers": described("Offers.")},
		EphemeralResourceSchemas: map[string]*tfprotov6.Schema{"x_key": described("A key.")},
		ListResourceSchemas:      map[string]*tfprotov6.Schema{"x_server": described("All servers.")},
		ActionSchemas:            map[string]*tfprotov6.ActionSchema{"x_stop": {Schema: described("Stops.")}},
		Functions: map[string]*tfprotov6.Function{"join": {
			Summary: "Joins.", Description: "Joins words.", DeprecationMessage: "Use join.",
			Parameters: []*tfprotov6.FunctionParameter{{
				Name: "by", Description: "Separator.", Type: tftypes.String, AllowNullValue: true,
			}},
			VariadicParameter: &tfprotov6.FunctionParameter{Name: "words", Type: tftypes.Object{
				AttributeTypes: map[string]tftypes.Type{"word": tftypes.String},
			}},
			Return: &tfprotov6.FunctionReturn{Type: tftypes.Set{ElementType: tftypes.Number}},
		}},
	}
	type schemas = map[string]*tfprotov6.ResourceIdentitySchema
	identities := &tfprotov6.GetResourceIdentitySchemasResponse{IdentitySchemas: schemas{"x_server": {
		Version: 1,
		IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{
			{Name: "id", Type: tftypes.String, Description: "The id.", RequiredForImport: true},
			{Name: "zone", Type: tftypes.String, OptionalForImport: true},
		},
	}}}
	const want = `{
	"provider": {"version": 0, "block": {"description": "The provider.", "description_kind": "plain"}},
	"resource_schemas": {"x_server": {"version": 2, "block": {
		"attributes": {
			"id": {"type": "string", "description_kind": "plain", "computed": true},
			"tags": {"type": ["map", "string"], "description": "Tags.", "description_kind": "markdown", "optional": true},
			"secret": {"type": "string", "description_kind": "plain", "deprecated": true, "required": true,
				"sensitive": true, "write_only": true},
			"disks": {"nested_type": {"attributes": {"size_gb": {"type": "number", "description_kind": "plain",
				"required": true}}, "nesting_mode": "list"}, "description_kind": "plain", "optional": true}
		},
		"block_types": {"timeouts": {"nesting_mode": "single", "block": {"description_kind": "plain"}, "max_items": 1}},
		"description_kind": "plain", "deprecated": true
	}}},
	"data_source_schemas": {"x_offers": {"version": 0, "block": {"description": "Offers.", "description_kind": "plain"}}},
	"ephemeral_resource_schemas": {"x_key": {"version": 0,
		"block": {"description": "A key.", "description_kind": "plain"}}},
	"list_resource_schemas": {"x_server": {"version": 0,
		"block": {"description": "All servers.", "description_kind": "plain"}}},
	"action_schemas": {"x_stop": {"block": {"description": "Stops.", "description_kind": "plain"}}},
	"functions": {"join": {
		"description": "Joins words.", "summary": "Joins.", "deprecation_message": "Use join.",
		"return_type": ["set", "number"],
		"parameters": [{"name": "by", "description": "Separator.", "is_nullable": true, "type": "string"}],
		"variadic_parameter": {"name": "words", "type": ["object", {"word": "string"}]}
	}},
	"resource_identity_schemas": {"x_server": {"version": 1, "attributes": {
		"id": {"type": "string", "description": "The id.", "required_for_import": true},
		"zone": {"type": "string", "optional_for_import": true}
	}}}
}`
	got, err := json.Marshal(fromProvider(types, identities))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parsed(t, []byte(want)), parsed(t, got)); diff != "" {
		t.Error(diff)
	}
}

func described(text string) *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Description: text}}
}

func parsed(t *testing.T, content []byte) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(content, &object); err != nil {
		t.Fatalf("%v in:\n%s", err, content)
	}
	return object
}
