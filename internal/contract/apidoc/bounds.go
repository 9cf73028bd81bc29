package apidoc

import (
	"fmt"
	"slices"
	"strings"
)

// Bound is a field of a request body with values at the edges of its bounds.
type Bound struct {
	Table, Field   string
	Valid, Invalid []any
}

// Bounds are the bounds of request bodies, from the chapters "Endpoints" and "Limits". InvalidTypes has the values of
// other types.
var Bounds = []Bound{
	{"TemplateCreate", "name", []any{chars(2), "xy", "🦊🦊", chars(60)}, []any{"", chars(1), "🦊", chars(61)}},
	{"TemplateCreate", "image", []any{"a:1", "host:5000/a/b:1.2"}, []any{"", "a", "a:", "host:5000/a"}},
	{"TemplateCreate", "description", []any{"", chars(500)}, []any{chars(501)}},
	{"TemplateCreate", "launch_mode", []any{"ssh", "jupyter", "entrypoint"}, []any{"", "SSH", "vnc"}},
	{
		"TemplateCreate", "ports", []any{[]any{}, []any{1, 65535}, repeat(10, 80)},
		[]any{[]any{0}, []any{-1}, []any{65536}, repeat(11, 80), []any{80.5}, []any{"80"}, []any{nil}},
	},
	{
		"TemplateCreate", "env", []any{variables(0), variables(30), map[string]any{"A": ""}},
		[]any{variables(31), map[string]any{"A": 1}, map[string]any{"A": nil}},
	},
	{"TemplateCreate", "onstart", []any{"", chars(4000)}, []any{chars(4001)}},
	{"TemplateCreate", "min_disk_gb", []any{10, 2000}, []any{9, 2001, 10.5}},
	{"TemplateCreate", "recommended_disk_gb", []any{10, 2000}, []any{9, 2001, 10.5}},
	{"SshKeyCreate", "name", []any{"", chars(60), strings.Repeat("🦊", 60)}, []any{chars(61), strings.Repeat("🦊", 61)}},
	{"SshKeyCreate", "public_key", nil, []any{"", "a\nb", "a\n\n"}},
	{"InstanceCreate", "disk_gb", []any{10, 2000}, []any{-10, 0, 9, 2001, 10.5}},
	{"InstanceCreate", "name", []any{"", chars(60), strings.Repeat("🦊", 60)},
		[]any{chars(61), strings.Repeat("🦊", 61)}},
	{"InstanceCreate", "ssh_key_ids", []any{[]any{}}, []any{repeat(11, "key"), []any{1}, []any{nil}}},
	{"InstanceCreate", "type", []any{"on_demand", "interruptible"}, []any{"", "spot"}},
	{"InstanceCreate", "env", []any{map[string]any{}}, []any{variables(1)}},
	{"InstanceCreate", "onstart", []any{nil}, []any{"", "ls"}},
	{"InstanceUpdate", "name", []any{nil, "", chars(60), strings.Repeat("🦊", 60)},
		[]any{chars(61), strings.Repeat("🦊", 61)}},
	{"ApiKeyCreate", "name", []any{chars(1), chars(60)}, []any{"", chars(61)}},
	{"ApiKeyCreate", "scopes", []any{Scopes}, []any{[]any{}, []any{"user:read", "user:admin"}, []any{1}}},
	{"ApiKeyCreate", "expires_in_days", []any{nil, 1, 3650}, []any{0, 1.5, 3651}},
	{"DeviceCodeCreate", "client_name", []any{"", chars(60)}, []any{chars(61)}},
}

// InvalidTypes returns a value of each JSON type that a field of a request body must not have. Null is among them only
// if the field is required: the document does not define null for optional fields.
func InvalidTypes(f Field) []any {
	own := map[string]string{
		"int64": "integer", "time": "string", "enum": "string", "known": "string", "map of string": "object",
	}[f.Type]
	if own == "" {
		own, _, _ = strings.Cut(f.Type, " ")
	}
	values := map[string]any{"string": "x", "number": 1.5, "boolean": true, "array": []any{},
		"object": map[string]any{}}
	delete(values, own)
	var invalid []any
	for _, value := range values {
		invalid = append(invalid, value)
	}
	if f.Required && !f.Nullable {
		invalid = append(invalid, nil)
	}
	return invalid
}

// QueryBound is a query parameter with values at the edges of its bounds.
type QueryBound struct {
	Path, Name     string
	Valid, Invalid []string
}

// QueryBounds are the bounds of query parameters. Limit is the same in all lists.
var QueryBounds = []QueryBound{
	{"/offers", "num_gpus", []string{"1", "2", "4", "8", "1,2,4,8"}, []string{"0", "3", "16", "x", "1,x", "-1", "1.5"}},
	{"/offers", "min_gpus", []string{"1", "8", "1000"},
		[]string{"0", "-1", "1.5", "x", "", "1e1", "99999999999999999999"}},
	{"/offers", "type", []string{"on_demand", "interruptible"},
		[]string{"", "spot", "ON_DEMAND", "on_demand,interruptible"}},
	{"/offers", "country", []string{"DE", "DE,FI"}, []string{"DEU", "de", "russia"}},
	{"/offers", "min_reliability", []string{"0", "1", "0.5", "0.999"},
		[]string{"-0.001", "1.001", "x", "", "NaN", "Inf"}},
	{"/offers", "min_vram_gb", []string{"0", "23.5", "1000"},
		[]string{"-1", "-0.5", "x", "", "NaN", "Inf", "-Inf", "1e999"}},
	{"/offers", "max_price_kop_h", []string{"0", "1", "100000000"},
		[]string{"-1", "1.5", "x", "", "NaN", "99999999999999999999"}},
	{"/offers", "verified", []string{"true", "false"}, []string{"", "yes", "2", "TRUE!", "null"}},
	{"/offers", "min_cuda", []string{"0", "12", "12.4"}, []string{"x", "", "NaN", "Inf", "12.4.1"}},
	{"/offers", "min_disk_gb", []string{"0", "100.5"}, []string{"-1", "x", "", "NaN", "Inf"}},
	{"/offers", "min_inet_down_mbps", []string{"0", "100.5"}, []string{"-1", "x", "", "NaN", "Inf"}},
	{
		"/offers", "order", []string{"price", "-price", "dlperf", "dlperf_per_price", "reliability", "vram",
			"inet_down"},
		[]string{"", "-dlperf", "PRICE", "price,dlperf", "name", "+price"},
	},
	{"/offers", "limit", []string{"1", "200"}, []string{"0", "201", "-1", "1.5", "1.0", "x", "", "1e2", "0x10", " 1",
		"NaN"}},
	{"/instances", "status", []string{"active", "all"}, []string{"", "running", "ACTIVE", "active,all"}},
	{"/instances/{id}/logs", "tail", []string{"1", "200", "1000"}, []string{"0", "1001", "-1", "x", "", "1.5"}},
}

// chars returns n characters of two bytes each: bounds count characters.
func chars(n int) string { return strings.Repeat("я", n) }

func repeat(n int, item any) []any { return slices.Repeat([]any{item}, n) }

func variables(n int) map[string]any {
	env := map[string]any{}
	for i := range n {
		env[fmt.Sprint("NAME_", i)] = "value"
	}
	return env
}
