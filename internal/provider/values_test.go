package provider_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// invalidValues are invalid for most arguments: for an enumeration, a pattern, a duration, an image, a regular
// expression, a fingerprint and a slug, and for arguments with a maximum length.
var invalidValues = []any{"( Canary,\t" + "\u00a0value", "canary" + strings.Repeat("x", 5000)}

// The validation of a string argument, of an element of a set or a list, and of a value of a map, reports no value:
// any of them may be sensitive.
func TestValidation_ReportsNoValues(t *testing.T) {
	server, all := acctest.ProviderServer(t)
	actions := map[string]*tfprotov6.Schema{}
	for name, action := range all.ActionSchemas {
		actions[name] = action.Schema
	}
	reported := 0
	for method, schemas := range map[string]map[string]*tfprotov6.Schema{
		"ValidateProviderConfig": {"provider": all.Provider}, "ValidateResourceConfig": all.ResourceSchemas,
		"ValidateDataResourceConfig":      all.DataSourceSchemas,
		"ValidateEphemeralResourceConfig": all.EphemeralResourceSchemas,
		"ValidateListResourceConfig":      all.ListResourceSchemas, "ValidateActionConfig": actions,
	} {
		validate := reflect.ValueOf(server).MethodByName(method)
		for name, schema := range schemas {
			for _, attribute := range schema.Block.Attributes {
				if !attribute.Optional && !attribute.Required {
					continue
				}
				for _, value := range invalidValuesOf(attribute.ValueType()) {
					config := acctest.Value(schema.ValueType(), map[string]any{attribute.Name: value})
					for _, d := range diagnosticsOf(t, validate, name, acctest.Pack(t, config)) {
						reported++
						if strings.Contains(strings.ToLower(d.Summary+d.Detail), "canary") {
							t.Errorf("%s of %s, %v: %s: %s", method, name, value, d.Summary, d.Detail)
						}
					}
				}
			}
		}
	}
	if reported < 100 {
		t.Errorf("%d diagnostics: the values are not invalid", reported)
	}
}

// diagnosticsOf calls a method of the protocol that validates the configuration of a type.
func diagnosticsOf(
	t *testing.T, validate reflect.Value, name string, config *tfprotov6.DynamicValue,
) []*tfprotov6.Diagnostic {
	t.Helper()
	req := reflect.New(validate.Type().In(1).Elem())
	req.Elem().FieldByName("Config").Set(reflect.ValueOf(config))
	for _, field := range []string{"TypeName", "ActionType"} {
		if field := req.Elem().FieldByName(field); field.IsValid() {
			field.SetString(name)
		}
	}
	results := validate.Call([]reflect.Value{reflect.ValueOf(t.Context()), req})
	if err := results[1].Interface(); err != nil {
		t.Fatal(err)
	}
	return results[0].Elem().FieldByName("Diagnostics").Interface().([]*tfprotov6.Diagnostic)
}

// invalidValuesOf returns values of a type, each with one of the invalid texts.
func invalidValuesOf(typ tftypes.Type) (values []any) {
	wrap := func(element tftypes.Type, in func(value any) any) {
		for _, value := range invalidValuesOf(element) {
			values = append(values, in(value))
		}
	}
	list := func(value any) any { return []any{value} }
	switch typ := typ.(type) {
	case tftypes.Set:
		wrap(typ.ElementType, list)
	case tftypes.List:
		wrap(typ.ElementType, list)
	case tftypes.Map:
		wrap(typ.ElementType, func(value any) any { return map[string]any{"key": value} })
	case tftypes.Object:
		for name, attribute := range typ.AttributeTypes {
			wrap(attribute, func(value any) any { return map[string]any{name: value} })
		}
	default:
		if typ.Is(tftypes.String) {
			return invalidValues
		}
	}
	return values
}

// A plan of an instance and of a fleet reports no value of a string argument, except the name of a fleet, which is its
// id: neither a template that does not exist, nor another image, a GPU model without offers, or a name and a key that
// another instance has.
func TestPlan_ReportsNoValues(t *testing.T) {
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	env.Post("instances", `{"offer_id":"`+offer.ID+`","template":"pytorch","disk_gb":60,"name":"canary-name"}`)
	p := run(t, env)
	query := map[string]any{"gpu": []any{"canary-gpu"}}
	instance := func(template, image any) map[string]any {
		return map[string]any{"template": template, "image": image, "disk_gb": int64(60), "offer_query": query,
			"name": "canary-name", "idempotency_key": "canary-key", "type": "on_demand"}
	}
	fleet := map[string]any{"name": "train", "size": int64(1), "template": "canary-template", "disk_gb": int64(60),
		"offer_queries": []any{query}, "type": "on_demand"}
	for kind, configs := range map[string][]map[string]any{
		"gpurent_instance": {
			instance("pytorch", nil), instance("pytorch", nil), instance("canary-template", nil),
			instance("pytorch", "canary:1"),
		},
		"gpurent_fleet": {fleet},
	} {
		for _, config := range configs {
			_, diags := p.Plan(p.None(kind), config)
			if text := texts(diags); text == "" || strings.Contains(text, "canary") {
				t.Errorf("%s: no diagnostics, or one with a value: %s", kind, text)
			}
		}
	}
}
