package apikey

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func TestCheckOwn(t *testing.T) {
	const keyStart = "gpr_Ab12"
	for name, test := range map[string]struct {
		prefix string   // of the key
		others []string // prefixes of the other keys
		want   ownKey
	}{
		"only match":                    {"gpr_Ab12", []string{"gpr_Cd34"}, ownKey{Own: true}},
		"no match":                      {"gpr_Cd34", []string{"gpr_Ab12"}, ownKey{}},
		"longer prefixes":               {"gpr_Ab12ef", []string{"gpr_Cd34gh"}, ownKey{Own: true}},
		"two matches":                   {"gpr_Ab12", []string{"gpr_Ab12"}, ownKey{Own: true, Others: 1}},
		"shorter prefixes, one match":   {"gpr_A", []string{"gpr_C"}, ownKey{Own: true}},
		"shorter prefixes, two matches": {"gpr_", []string{"gpr_"}, ownKey{Others: 1}},
		"no prefix":                     {"", nil, ownKey{}},
		"masked prefix":                 {"gpr_****", nil, ownKey{}},
	} {
		t.Run(name, func(t *testing.T) {
			keys := []rental.APIKey{{ID: "key_checked", Prefix: test.prefix}}
			for _, prefix := range test.others {
				keys = append(keys, rental.APIKey{ID: "key_other", Prefix: prefix})
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if err := json.NewEncoder(w).Encode(map[string]any{"data": keys, "next_cursor": nil}); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			secret := keyStart + "000000000000000000000000000000000000"
			client, err := rental.New(rental.Config{BaseURL: server.URL + "/api/v1", APIKey: secret})
			if err != nil {
				t.Fatal(err)
			}
			meta := &tfkit.Meta{KeyStart: keyStart}
			meta.SetClient(client, spending.Limits{})
			r := &keyResource{tfkit.Resource{Name: "api_key", Meta: meta}}
			checked := keyModel{ID: types.StringValue("key_checked"), Prefix: types.StringValue(test.prefix)}
			if got := r.checkOwn(t.Context(), model{keyModel: checked}); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
