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

// Code generators turn a null in an enum into a constant such as "<nil>".
func TestEnumsHaveNoNull(t *testing.T) {
	err := load(t).WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		if slices.Contains(ref.Value.Enum, nil) {
			t.Errorf("%s has null in its enum", pointer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEverySchemaIsUsed(t *testing.T) {
	document := string(contract.Document())
	for name := range load(t).Components.Schemas {
		if !strings.Contains(document, `"#/components/schemas/`+name+`"`) {
			t.Errorf("nothing refers to schema %s", name)
		}
	}
}

func TestMoneyIsInt64(t *testing.T) {
	err := load(t).WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		if strings.Contains(name, "_kop") && (!ref.Value.Type.Is("integer") || ref.Value.Format != "int64") {
			t.Errorf("%s is %v %s, want integer int64", pointer, ref.Value.Type.Slice(), ref.Value.Format)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
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

// Clients ignore unknown fields. The document does not say that the API refuses unknown fields.
func TestUnknownFields(t *testing.T) {
	doc := load(t)
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil {
				schema := op.RequestBody.Value.Content.Get("application/json").Schema.Value
				if allowed := schema.AdditionalProperties.Has; allowed != nil && !*allowed {
					t.Errorf("%s: the request body forbids unknown fields", op.OperationID)
				}
			}
			for status, response := range op.Responses.Map() {
				media := response.Value.Content.Get("application/json")
				if media == nil {
					continue
				}
				err := media.Schema.WalkSubtree(func(pointer string, ref *openapi3.SchemaRef) error {
					if allowed := ref.Value.AdditionalProperties.Has; allowed != nil && !*allowed {
						t.Errorf("%s %s: %s forbids unknown fields", op.OperationID, status, pointer)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
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

func TestResponseBounds(t *testing.T) {
	schemas := load(t).Components.Schemas
	secret := "abcd" + strings.Repeat("aZ09", 10)
	failure := func(code string, details any) map[string]any {
		e := map[string]any{"code": code, "message": "m"}
		if details != nil {
			e["details"] = details
		}
		return map[string]any{"error": e}
	}
	issue := map[string]any{"field": "name", "message": "m"}
	disk := func(name any) map[string]any { return map[string]any{"max_gb": 100, "bw_mbps": nil, "name": name} }
	tests := []struct {
		schema    string
		good, bad []any
	}{
		{"Secret", []any{secret}, []any{secret + "a", secret[1:], secret[:43] + "-"}},
		{"NextCursor", []any{nil, "c"}, []any{1}},
		{"OfferDisk", []any{disk(nil)}, []any{disk(""), disk("nvme"), disk(1)}},
		{"InsufficientFundsError",
			[]any{failure("insufficient_funds", map[string]any{"short_kop": 1})},
			[]any{failure("insufficient_funds", nil), failure("insufficient_funds", map[string]any{}),
				failure("conflict", map[string]any{"short_kop": 1})}},
		{"ValidationError",
			[]any{failure("validation_error", map[string]any{"issues": []any{issue}})},
			[]any{failure("validation_error", nil), failure("validation_error", map[string]any{"issues": []any{}}),
				failure("validation_error", map[string]any{"issues": []any{map[string]any{"field": "name"}}})}},
		{"CreateInstanceForbiddenError",
			[]any{failure("forbidden", nil), failure("forbidden", map[string]any{"reason": "email_not_verified"})},
			[]any{failure("forbidden", map[string]any{"reason": 1})}},
		{"NotFoundError",
			[]any{failure("not_found", nil), failure("not_found", map[string]any{"any": "thing"})},
			[]any{failure("gone", nil), failure("not_found", []any{}), map[string]any{"code": "not_found"}}},
	}
	for _, test := range tests {
		for _, value := range test.good {
			if err := visit(t, schemas[test.schema].Value, value); err != nil {
				t.Errorf("%s: refuses %v: %v", test.schema, value, err)
			}
		}
		for _, value := range test.bad {
			if visit(t, schemas[test.schema].Value, value) == nil {
				t.Errorf("%s: accepts %v", test.schema, value)
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
