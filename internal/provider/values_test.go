package provider_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// invalidValue is an invalid value for most arguments: an enumeration, a pattern, a duration, an image, a regular
// expression, a fingerprint, a slug.
const invalidValue = "( Canary,\t" + "\u00a0value"

// longValue is an invalid value for arguments with a maximum length.
var longValue = "canary" + strings.Repeat("x", 5000)

// The validation of a string argument, of an element of a set or a list, and of a value of a map, reports no value:
// any of them may be sensitive.
func TestValidation_ReportsNoValues(t *testing.T) {
	server, all := acctest.ProviderServer(t)
	reported := 0
	check := func(name string, schema *tfprotov6.Schema, validate func(*tfprotov6.DynamicValue) []*tfprotov6.Diagnostic) {
		for _, value := range []string{invalidValue, longValue} {
			for argument, config := range configsWith(schema, value) {
				for _, d := range validate(acctest.Pack(t, config)) {
					reported++
					if text := strings.ToLower(d.Summary + d.Detail); strings.Contains(text, "canary") {
						t.Errorf("%s.%s: %s: %s", name, argument, d.Summary, d.Detail)
					}
				}
			}
		}
	}
	check("provider", all.Provider, func(config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
		resp, err := server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: config})
		return diagnosticsOf(t, resp, err)
	})
	for name, schema := range all.ResourceSchemas {
		check(name, schema, func(config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			resp, err := server.ValidateResourceConfig(t.Context(),
				&tfprotov6.ValidateResourceConfigRequest{TypeName: name, Config: config})
			return diagnosticsOf(t, resp, err)
		})
	}
	for name, schema := range all.DataSourceSchemas {
		check("data."+name, schema, func(config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			resp, err := server.ValidateDataResourceConfig(t.Context(),
				&tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: config})
			return diagnosticsOf(t, resp, err)
		})
	}
	for name, schema := range all.EphemeralResourceSchemas {
		check("ephemeral."+name, schema, func(config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			resp, err := server.ValidateEphemeralResourceConfig(t.Context(),
				&tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: name, Config: config})
			return diagnosticsOf(t, resp, err)
		})
	}
	lists := server.(tfprotov6.ListResourceServer)
	for name, schema := range all.ListResourceSchemas {
		check("list."+name, schema, func(config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			resp, err := lists.ValidateListResourceConfig(t.Context(),
				&tfprotov6.ValidateListResourceConfigRequest{TypeName: name, Config: config})
			return diagnosticsOf(t, resp, err)
		})
	}
	actions := server.(tfprotov6.ActionServer)
	for name, schema := range all.ActionSchemas {
		check("action."+name, schema.Schema, func(config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			resp, err := actions.ValidateActionConfig(t.Context(),
				&tfprotov6.ValidateActionConfigRequest{ActionType: name, Config: config})
			return diagnosticsOf(t, resp, err)
		})
	}
	if reported < 100 {
		t.Errorf("%d diagnostics: the values are not invalid", reported)
	}
}

func diagnosticsOf(t *testing.T, resp any, err error) []*tfprotov6.Diagnostic {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return reflect.ValueOf(resp).Elem().FieldByName("Diagnostics").Interface().([]*tfprotov6.Diagnostic)
}

// configsWith returns a configuration for each string argument of a schema, with the value there and null elsewhere.
func configsWith(schema *tfprotov6.Schema, value string) map[string]tftypes.Value {
	typ := schema.ValueType().(tftypes.Object)
	configs := map[string]tftypes.Value{}
	for _, attribute := range schema.Block.Attributes {
		if !attribute.Optional && !attribute.Required {
			continue
		}
		for argument, argumentValue := range valuesWith(attribute.Name, typ.AttributeTypes[attribute.Name], value) {
			attributes := nulls(typ)
			attributes[attribute.Name] = argumentValue
			configs[argument] = tftypes.NewValue(typ, attributes)
		}
	}
	return configs
}

// valuesWith returns the values of a type that contain the text once, by the path of the text.
func valuesWith(at string, typ tftypes.Type, text string) map[string]tftypes.Value {
	values := map[string]tftypes.Value{}
	within := func(at string, element tftypes.Type, wrap func(tftypes.Value) tftypes.Value) {
		for path, value := range valuesWith(at, element, text) {
			values[path] = wrap(value)
		}
	}
	switch typ := typ.(type) {
	case tftypes.Set:
		within(at+"[*]", typ.ElementType, func(v tftypes.Value) tftypes.Value {
			return tftypes.NewValue(typ, []tftypes.Value{v})
		})
	case tftypes.List:
		within(at+"[0]", typ.ElementType, func(v tftypes.Value) tftypes.Value {
			return tftypes.NewValue(typ, []tftypes.Value{v})
		})
	case tftypes.Map:
		within(at+"[key]", typ.ElementType, func(v tftypes.Value) tftypes.Value {
			return tftypes.NewValue(typ, map[string]tftypes.Value{"key": v})
		})
	case tftypes.Object:
		for _, name := range slices.Sorted(maps.Keys(typ.AttributeTypes)) {
			within(at+"."+name, typ.AttributeTypes[name], func(v tftypes.Value) tftypes.Value {
				attributes := nulls(typ)
				attributes[name] = v
				return tftypes.NewValue(typ, attributes)
			})
		}
	default:
		if typ.Is(tftypes.String) {
			values[at] = tftypes.NewValue(typ, text)
		}
	}
	return values
}

func nulls(typ tftypes.Object) map[string]tftypes.Value {
	attributes := map[string]tftypes.Value{}
	for name, attribute := range typ.AttributeTypes {
		attributes[name] = tftypes.NewValue(attribute, nil)
	}
	return attributes
}

// A plan of an instance and of a fleet reports no value of a string argument, except the name of a fleet, which is its
// id: neither a template that does not exist, nor another image, a GPU model without offers, or a name and a key that
// another instance has.
func TestPlan_ReportsNoValues(t *testing.T) {
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	env.Post("instances", `{"offer_id":"`+offer.ID+`","template":"pytorch","disk_gb":60,"name":"canary-name"}`)
	server, all := acctest.ProviderServer(t)
	provider := acctest.Value(all.Provider.ValueType(), map[string]any{"base_url": env.BaseURL, "api_key": env.APIKey})
	_, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: acctest.Pack(t, provider)})
	if err != nil {
		t.Fatal(err)
	}
	query := map[string]any{"gpu": []any{"canary-gpu"}}
	instance := func(arguments map[string]any) map[string]any {
		config := map[string]any{"template": "pytorch", "disk_gb": int64(60), "offer_query": query, "name": "canary-name",
			"idempotency_key": "canary-key", "type": "on_demand"}
		maps.Copy(config, arguments)
		return config
	}
	fleet := map[string]any{"name": "train", "size": int64(1), "template": "canary-template", "disk_gb": int64(60),
		"offer_queries": []any{query}, "type": "on_demand"}
	for name, configs := range map[string][]map[string]any{
		"gpurent_instance": {instance(nil), instance(nil), instance(map[string]any{"template": "canary-template"}),
			instance(map[string]any{"image": "canary:1"})},
		"gpurent_fleet": {fleet},
	} {
		typ := all.ResourceSchemas[name].ValueType()
		for _, config := range configs {
			diags := planNew(t.Context(), t, server, name, acctest.Value(typ, config))
			if len(diags) == 0 {
				t.Errorf("%s: no diagnostics", name)
			}
			for _, d := range diags {
				if strings.Contains(d.Summary+d.Detail, "canary") {
					t.Errorf("%s: %s: %s", name, d.Summary, d.Detail)
				}
			}
		}
	}
}

// planNew returns the diagnostics of the plan of a new resource.
func planNew(
	ctx context.Context, t *testing.T, server tfprotov6.ProviderServer, name string, config tftypes.Value,
) []*tfprotov6.Diagnostic {
	t.Helper()
	resp, err := server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: name, PriorState: acctest.Pack(t, tftypes.NewValue(config.Type(), nil)),
		ProposedNewState: acctest.Pack(t, config), Config: acctest.Pack(t, config),
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Diagnostics
}
