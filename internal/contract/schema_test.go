package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
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
			// The envelope is described by its schema, a page by its name.
			if ref.Value.Description == "" && field != "error" && field != "data" {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
}

// Clients tolerate fields they do not know. The document does not say that the service refuses any, so nobody may rely
// on it.
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
	variables := func(n int) map[string]any {
		env := make(map[string]any)
		for i := range n {
			env[fmt.Sprint("V", i)] = "x"
		}
		return env
	}
	tests := []struct {
		schema, field string
		good, bad     []any
	}{
		{"TemplateCreate", "name", []any{text(2), text(60), "имя"}, []any{text(1), text(61), nil, 5}},
		{"TemplateCreate", "image", []any{"a:1", "host:5000/a/b:1.2"}, []any{"a", "host:5000/a", "a:", "", nil}},
		{"TemplateCreate", "description", []any{"", text(500)}, []any{text(501)}},
		{"TemplateCreate", "launch_mode", []any{"ssh", "jupyter", "entrypoint"}, []any{"vnc", ""}},
		{"TemplateCreate", "ports", []any{[]any{}, []any{1, 65535}, list(10, 80)}, []any{[]any{0}, []any{65536}, list(11, 80), []any{1.5}}},
		{"TemplateCreate", "env", []any{variables(0), variables(30)}, []any{variables(31), map[string]any{"A": 1}}},
		{"TemplateCreate", "onstart", []any{"", text(4000)}, []any{text(4001)}},
		{"TemplateCreate", "min_disk_gb", []any{10, 2000}, []any{9, 2001, 10.5}},
		{"TemplateCreate", "recommended_disk_gb", []any{10, 2000}, []any{9, 2001}},
		{"SshKeyCreate", "name", []any{"", text(60)}, []any{text(61)}},
		{"SshKeyCreate", "public_key", []any{"ssh-rsa AAAA\n"}, []any{"", "a\nb", "a\n\n", nil}},
		{"InstanceCreate", "disk_gb", []any{10, 2000}, []any{9, 2001, "20", nil}},
		{"InstanceCreate", "name", []any{"", text(60)}, []any{text(61), nil}},
		{"InstanceCreate", "ssh_key_ids", []any{[]any{}, list(10, "k")}, []any{list(11, "k"), []any{1}}},
		{"InstanceCreate", "type", []any{"on_demand", "interruptible"}, []any{"spot"}},
		{"InstanceCreate", "env", []any{map[string]any{}}, []any{variables(1), nil}},
		{"InstanceCreate", "onstart", []any{nil}, []any{"", "ls", 1}},
		{"InstanceUpdate", "name", []any{nil, "", text(60)}, []any{text(61), 1}},
		{"ApiKeyCreate", "name", []any{text(1), text(60)}, []any{"", text(61)}},
		{"ApiKeyCreate", "scopes",
			[]any{[]any{"user:read", "user:write", "instances:read", "instances:write", "billing:read"}},
			[]any{[]any{}, []any{"billing:write"}, nil}},
		{"ApiKeyCreate", "expires_in_days", []any{1, 3650, nil}, []any{0, 3651}},
		{"DeviceCodeCreate", "client_name", []any{"", text(60)}, []any{text(61)}},
		{"DeviceTokenCreate", "device_code", []any{"d"}, []any{nil, 1}},
	}
	for _, test := range tests {
		schema, base := schemas[test.schema].Value, bases[test.schema]
		if err := visit(t, schema, base); err != nil {
			t.Errorf("%s: refuses %v: %v", test.schema, base, err)
		}
		for _, value := range test.good {
			if err := visit(t, schema, with(base, test.field, value)); err != nil {
				t.Errorf("%s.%s: refuses %.80v: %v", test.schema, test.field, value, err)
			}
		}
		for _, value := range test.bad {
			if visit(t, schema, with(base, test.field, value)) == nil {
				t.Errorf("%s.%s: accepts %.80v", test.schema, test.field, value)
			}
		}
	}
}

func TestParameterBounds(t *testing.T) {
	doc := load(t)
	tests := []struct {
		path, method, in, name string
		good, bad              []any
	}{
		{"/offers", "GET", "query", "limit", []any{1, 200}, []any{0, 201}},
		{"/offers", "GET", "query", "num_gpus", []any{"1", "1,2,4,8"}, []any{"3", "16", "1,", "1 2", ""}},
		{"/offers", "GET", "query", "min_gpus", []any{1}, []any{0}},
		{"/offers", "GET", "query", "type", []any{"on_demand", "interruptible"}, []any{"bid"}},
		{"/offers", "GET", "query", "country", []any{"DE", "DE,FI"}, []any{"DEU", "DE,", ""}},
		{"/offers", "GET", "query", "min_reliability", []any{0, 0.5, 1}, []any{-0.1, 1.1}},
		{"/offers", "GET", "query", "min_vram_gb", []any{0, 23.5}, []any{-1}},
		{"/offers", "GET", "query", "max_price_kop_h", []any{0}, []any{-1, 0.5}},
		{"/offers", "GET", "query", "min_disk_gb", []any{0}, []any{-1}},
		{"/offers", "GET", "query", "min_inet_down_mbps", []any{0}, []any{-1}},
		{"/offers", "GET", "query", "order",
			[]any{"price", "-price", "dlperf", "dlperf_per_price", "reliability", "vram", "inet_down"}, []any{"-dlperf", ""}},
		{"/instances", "GET", "query", "status", []any{"active", "all"}, []any{"running"}},
		{"/instances/{id}/logs", "GET", "query", "tail", []any{1, 1000}, []any{0, 1001}},
		{"/instances", "POST", "header", "Idempotency-Key", []any{"k", text(64)}, []any{"", text(65)}},
	}
	for _, test := range tests {
		parameter := doc.Paths.Value(test.path).GetOperation(test.method).Parameters.GetByInAndName(test.in, test.name)
		if parameter.Required != (test.in == "header") {
			t.Errorf("%s %s: required: %t", test.path, test.name, parameter.Required)
		}
		for _, value := range test.good {
			if err := visit(t, parameter.Schema.Value, value); err != nil {
				t.Errorf("%s %s: refuses %v: %v", test.path, test.name, value, err)
			}
		}
		for _, value := range test.bad {
			if visit(t, parameter.Schema.Value, value) == nil {
				t.Errorf("%s %s: accepts %v", test.path, test.name, value)
			}
		}
	}
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
			[]any{failure("insufficient_funds", nil), failure("insufficient_funds", map[string]any{}), failure("conflict", map[string]any{"short_kop": 1})}},
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

// visit validates what value is after a trip through JSON.
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

// text returns n characters of more than one byte each: bounds count
// characters.
func text(n int) string { return strings.Repeat("я", n) }

func list(n int, item any) []any { return slices.Repeat([]any{item}, n) }
