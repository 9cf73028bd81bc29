package apikey

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// With all quirks of the simulator, a creation leaves only the key that it returns.
func TestIssue_AllQuirks(t *testing.T) {
	for seed := range uint64(20) {
		server, err := simulator.Start(t.Context(), simulator.Config{
			Seed: seed + 1, Clock: simulator.ClockManual, Step: 2 * time.Second, Market: simulator.MarketStill,
			Quirks: []string{"all"},
		})
		if err != nil {
			t.Fatal(err)
		}
		client, err := rental.New(rental.Config{
			BaseURL: server.BaseURL, APIKey: server.APIKey, RequestTimeout: 300 * time.Millisecond, MaxRetries: 3,
			Backoff: backoff.Exponential{Factor: 1}, // no pauses
		})
		if err != nil {
			t.Fatal(err)
		}
		meta := &tfkit.Meta{Client: client, Cleanup: new(tfkit.Cleanup)}
		days := int64(1)
		issued, err := issue(t.Context(), meta, rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read"},
			ExpiresInDays: &days})
		var left []string
		for _, key := range listKeys(t, server) {
			if key.Name == "job" && key.ID != issued.ID {
				left = append(left, key.ID)
			}
		}
		if len(left) > 0 || err != nil {
			t.Errorf("seed %d: issued %s, %v; unknown keys: %v", seed+1, issued.ID, err, left)
		}
		client.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}

// listKeys returns the keys of the account without quirks.
func listKeys(t *testing.T, server *simulator.Server) []rental.APIKey {
	t.Helper()
	ctx := simulator.WithoutQuirks(context.WithoutCancel(t.Context()))
	req := httptest.NewRequestWithContext(ctx, "GET", server.BaseURL+"/api-keys", nil)
	req.RemoteAddr = "127.0.0.1:1"
	req.Header.Set("Authorization", "Bearer "+server.APIKey)
	resp := httptest.NewRecorder()
	server.Handler().ServeHTTP(resp, req)
	var page struct{ Data []rental.APIKey }
	if err := json.Unmarshal(resp.Body.Bytes(), &page); err != nil {
		t.Fatalf("%v in %s", err, resp.Body)
	}
	return page.Data
}
