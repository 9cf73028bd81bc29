package rental

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// Whole numbers with a fraction or an exponent are whole numbers in every field of every response.
func TestDecode_WholeNumbers(t *testing.T) {
	whole := regexp.MustCompile(`([:,\[]\s*)(-?\d+)([,}\]])`)
	for _, spelling := range []string{"$1$2.0$3", "$1${2}e0$3", "$1${2}0E-1$3", "$1$2.000e+00$3"} {
		for _, op := range operations(t) {
			client, _ := scriptedClient(t, reply{status: op.status, body: whole.ReplaceAllString(op.response, spelling)})
			got, err := op.do(t.Context(), client)
			if diff := cmp.Diff(op.want, got); err != nil || diff != "" {
				t.Errorf("%s with %s: %v (-want +got):\n%s", op.id, spelling, err, diff)
			}
		}
	}
	for _, fraction := range []string{"60.5", "1e-1", "9007199254740993.0", "1e30"} {
		body := strings.Replace(instanceJSON, `"running_kop_h":9000`, `"running_kop_h":`+fraction, 1)
		if got := new(Instance); decode([]byte(body), got) == nil {
			t.Errorf("%s is decoded as %+v", fraction, got.Price)
		}
	}
}

// An optional field that cannot be read counts as omitted, and a required one is an error.
func TestDecode_UnreadableFields(t *testing.T) {
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]any
			}
		}
	}
	if err := json.Unmarshal(contract.Document(), &document); err != nil {
		t.Fatal(err)
	}
	for schema, test := range map[string]struct {
		valid string
		into  func() any
	}{
		"Instance": {instanceJSON, func() any { return new(Instance) }},
		"Offer":    {offerJSON, func() any { return new(Offer) }},
		"User":     {userJSON, func() any { return new(User) }},
	} {
		for field := range document.Components.Schemas[schema].Properties {
			var fields map[string]any
			if err := json.Unmarshal([]byte(test.valid), &fields); err != nil {
				t.Fatal(err)
			}
			delete(fields, field)
			without, got := test.into(), test.into()
			required := slices.Contains(document.Components.Schemas[schema].Required, field)
			if err := decode(marshal(t, fields), without); err != nil && !required {
				t.Errorf("%s without %s: %v", schema, field, err)
			}
			fields[field] = []any{[]any{"another type"}}
			err := decode(marshal(t, fields), got)
			if diff := cmp.Diff(without, got); (err != nil) != required || !required && diff != "" {
				t.Errorf("%s with an unreadable %s: %v (-want +got):\n%s", schema, field, err, diff)
			}
		}
	}
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Of a required object, only the part is omitted that the document allows to be null.
func TestDecode_UnreadableNestedFields(t *testing.T) {
	for _, test := range []struct {
		valid, unreadable string
		ok                bool
	}{
		{`"vram_gb":24`, `"vram_gb":"24"`, true},
		{`"name":"RTX 4090"`, `"name":5`, false},
		{`"count":2`, `"count":"2"`, false},
		{`"stopped_kop_h":150`, `"stopped_kop_h":"150"`, false},
		{`"stopped_kop_h":150`, `"STOPPED_kop_h":"150"`, false},
		{`"traffic_kop_gb":80`, `"traffic_kop_gb":"80"`, true},
		{`"port":2222`, `"port":"ssh"`, true},
		{`"created_at":"2026-01-02T03:04:05Z"`, `"created_at":"yesterday"`, true},
	} {
		var got Instance
		err := decode([]byte(strings.Replace(instanceJSON, test.valid, test.unreadable, 1)), &got)
		if (err == nil) != test.ok || test.ok && (got.GPU.Count != 2 || got.Price.RunningKopH != 9000) {
			t.Errorf("%s: %v: %+v", test.unreadable, err, got)
		}
	}
}
