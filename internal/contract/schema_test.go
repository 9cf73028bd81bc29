package contract_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

func TestEverySchemaIsUsed(t *testing.T) {
	document := string(contract.Document())
	for name := range load(t).Components.Schemas {
		if !strings.Contains(document, `"#/components/schemas/`+name+`"`) {
			t.Errorf("nothing refers to schema %s", name)
		}
	}
}

func TestEveryFieldIsDescribed(t *testing.T) {
	for name, schema := range load(t).Components.Schemas {
		if schema.Value.Description == "" {
			t.Errorf("schema %s has no description", name)
		}
		for field, ref := range schema.Value.Properties {
			// The schema describes the error object. The name of a page describes its data.
			if ref.Value.Description == "" && field != "error" && field != "data" {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
}

// Clients ignore unknown fields. The document does not say that the API refuses unknown fields. An enum has no null,
// because code generators turn it into a constant such as "<nil>".
func TestSchemas_AllowUnknownFields(t *testing.T) {
	err := load(t).WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		allowed := ref.Value.AdditionalProperties.Has
		if allowed != nil && !*allowed && !strings.HasSuffix(pointer, "/InstanceCreate/properties/env") {
			t.Errorf("%s forbids unknown fields", pointer)
		}
		if slices.Contains(ref.Value.Enum, nil) {
			t.Errorf("%s has null in its enum", pointer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBodyBounds(t *testing.T) {
	schemas := load(t).Components.Schemas
	bases := map[string]map[string]any{
		"TemplateCreate":    {"name": "my", "image": "a/b:1"},
		"SshKeyCreate":      {"public_key": "ssh-ed25519 AAAA me"},
		"InstanceCreate":    {"offer_id": "o", "template": "t", "disk_gb": 20},
		"InstanceUpdate":    {"name": "n"},
		"ApiKeyCreate":      {"name": "n", "scopes": []any{"user:read"}},
		"DeviceCodeCreate":  {},
		"DeviceTokenCreate": {"device_code": "d"},
	}
	check := func(bound apidoc.Bound) {
		schema, base := schemas[bound.Table].Value, bases[bound.Table]
		for _, value := range bound.Valid {
			if err := visit(t, schema, with(base, bound.Field, value)); err != nil {
				t.Errorf("%s.%s: refuses %.80v: %v", bound.Table, bound.Field, value, err)
			}
		}
		for _, value := range bound.Invalid {
			if visit(t, schema, with(base, bound.Field, value)) == nil {
				t.Errorf("%s.%s: accepts %.80v", bound.Table, bound.Field, value)
			}
		}
	}
	for table, base := range bases {
		if err := visit(t, schemas[table].Value, base); err != nil {
			t.Errorf("%s: refuses %v: %v", table, base, err)
		}
		for _, field := range apidoc.Fields(table) {
			check(apidoc.Bound{Table: table, Field: field.Name, Invalid: apidoc.InvalidTypes(field)})
		}
	}
	for _, bound := range apidoc.Bounds {
		check(bound)
	}
}

func TestParameterBounds(t *testing.T) {
	doc := load(t)
	parameter := func(path, method, in, name string) *openapi3.Parameter {
		return doc.Paths.Value(path).GetOperation(method).Parameters.GetByInAndName(in, name)
	}
	for _, bound := range apidoc.QueryBounds {
		schema := parameter(bound.Path, "GET", "query", bound.Name).Schema.Value
		for _, value := range bound.Valid {
			if err := visitQuery(schema, value); err != nil {
				t.Errorf("%s %s: refuses %v: %v", bound.Path, bound.Name, value, err)
			}
		}
		for _, value := range bound.Invalid {
			if visitQuery(schema, value) == nil {
				t.Errorf("%s %s: accepts %v", bound.Path, bound.Name, value)
			}
		}
	}
	// The document does not say whether the API accepts empty items. Clients must not send any.
	for name, values := range map[string][]string{"num_gpus": {"", "1,", "1 2"}, "country": {"", "DE,"}} {
		for _, value := range values {
			if visitQuery(parameter("/offers", "GET", "query", name).Schema.Value, value) == nil {
				t.Errorf("%s: accepts %q", name, value)
			}
		}
	}
	key := parameter("/instances", "POST", "header", "Idempotency-Key")
	for value, valid := range map[string]bool{"k": true, text(64): true, "": false, text(65): false} {
		if err := key.Schema.Value.VisitJSON(value); !key.Required || (err == nil) != valid {
			t.Errorf("Idempotency-Key %q: %v, required %t", value, err, key.Required)
		}
	}
}

// visitQuery validates a query parameter as it is sent.
func visitQuery(schema *openapi3.Schema, raw string) error {
	var value any = raw
	var err error
	switch {
	case schema.Type.Is("integer"):
		var n int64
		n, err = strconv.ParseInt(raw, 10, 64)
		value = float64(n)
	case schema.Type.Is("number"):
		var n float64
		if n, err = strconv.ParseFloat(raw, 64); math.IsNaN(n) || math.IsInf(n, 0) {
			return errors.New("not a JSON number")
		}
		value = n
	case schema.Type.Is("boolean") && raw != "true" && raw != "false":
		return errors.New("not a boolean")
	case schema.Type.Is("boolean"):
		value = raw == "true"
	}
	if err != nil {
		return err
	}
	return schema.VisitJSON(value)
}

// Constraints of responses that the tables do not have.
func TestResponseBounds(t *testing.T) {
	schemas := load(t).Components.Schemas
	secret := "abcd" + strings.Repeat("aZ09", 10)
	type object = map[string]any
	failure := func(code string, details any) object {
		return object{"error": object{"code": code, "message": "m", "details": details}}
	}
	issue := object{"field": "name", "message": "m"}
	for schema, test := range map[string]struct{ good, bad []any }{
		"Secret":     {[]any{secret}, []any{secret + "a", secret[1:], secret[:43] + "-"}},
		"NextCursor": {[]any{nil, "c"}, []any{1}},
		"InsufficientFundsError": {
			[]any{failure("insufficient_funds", object{"short_kop": 1})},
			[]any{failure("insufficient_funds", object{}), failure("conflict", object{"short_kop": 1})},
		},
		"ValidationError": {
			[]any{failure("validation_error", object{"issues": []any{issue}})},
			[]any{failure("validation_error", object{}), failure("validation_error", object{"issues": []any{}}),
				failure("validation_error", object{"issues": []any{object{"field": "name"}}})},
		},
		"CreateInstanceForbiddenError": {
			[]any{failure("forbidden", object{"reason": "email_not_verified"}), failure("forbidden", object{})},
			[]any{failure("forbidden", object{"reason": 1})},
		},
		"NotFoundError": {
			[]any{failure("not_found", object{"any": "thing"})},
			[]any{failure("gone", object{}), failure("not_found", []any{}), object{"code": "not_found"}},
		},
	} {
		for _, value := range test.good {
			if err := visit(t, schemas[schema].Value, value); err != nil {
				t.Errorf("%s: refuses %v: %v", schema, value, err)
			}
		}
		for _, value := range test.bad {
			if visit(t, schemas[schema].Value, value) == nil {
				t.Errorf("%s: accepts %v", schema, value)
			}
		}
	}
}

// visit encodes a value as JSON and validates the result.
func visit(t *testing.T, schema *openapi3.Schema, value any) error {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		t.Fatal(err)
	}
	return schema.VisitJSON(decoded)
}

func with(base map[string]any, field string, value any) map[string]any {
	body := maps.Clone(base)
	body[field] = value
	return body
}

// text returns n characters of two bytes each: bounds count characters.
func text(n int) string { return strings.Repeat("я", n) }
