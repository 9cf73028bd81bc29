package apikey

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// With all quirks of the simulator, a creation leaves only the key that it returns.
func TestIssue_AllQuirks(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			service, err := simulator.New(simulator.Config{
				Seed: seed + 1, Market: simulator.MarketStill, APIKey: apiKey, Quirks: []string{"all"},
			})
			if err != nil {
				t.Fatal(err)
			}
			meta := &tfkit.Meta{Client: newClient(t, service.Handler()), Cleanup: new(tfkit.Cleanup)}
			days := int64(1)
			issued, err := issue(t.Context(), meta, rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read"},
				ExpiresInDays: &days})
			var left []string
			for _, key := range listKeys(t, service) {
				if key.Name == "job" && key.ID != issued.ID {
					left = append(left, key.ID)
				}
			}
			if len(left) > 0 || err != nil {
				t.Errorf("seed %d: issued %s, %v; unknown keys: %v", seed+1, issued.ID, err, left)
			}
		})
	}
}

// listKeys returns the keys of the account without quirks.
func listKeys(t *testing.T, service *simulator.Simulator) []rental.APIKey {
	t.Helper()
	ctx := simulator.WithoutQuirks(context.WithoutCancel(t.Context()))
	req := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/api-keys", nil)
	req.RemoteAddr = "127.0.0.1:1"
	req.Header.Set("Authorization", "Bearer "+apiKey)
	resp := httptest.NewRecorder()
	service.Handler().ServeHTTP(resp, req)
	var page struct{ Data []rental.APIKey }
	if err := json.Unmarshal(resp.Body.Bytes(), &page); err != nil {
		t.Fatalf("%v in %s", err, resp.Body)
	}
	return page.Data
}
