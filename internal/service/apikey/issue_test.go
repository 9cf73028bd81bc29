package apikey

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// With all quirks of the simulator, which lose responses and delay lists, a creation leaves only the key that it
// returns. A wrong local clock makes no difference, even before the first response.
func TestIssue_AllQuirks(t *testing.T) {
	created := 0 // three lost responses are an error
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			offset := time.Duration(int(seed)%3-1) * time.Hour
			service, meta := newService(t, simulator.Config{
				Seed: seed + 1, Hooks: quirks.New("all"), Clock: simulator.ClockManual, Step: 10 * time.Second,
				Start: time.Now().Add(offset),
			})
			issued, err := issue(t.Context(), meta, jobKey)
			var left []string
			for _, key := range listKeys(t, service) {
				if key.Name == "job" && key.ID != issued.ID {
					left = append(left, key.ID)
				}
			}
			if err == nil {
				created++
			}
			if len(left) > 0 || (err == nil) != (issued.Secret != "") {
				t.Errorf("seed %d: issued %s, %v; unknown keys: %v", seed+1, issued.ID, err, left)
			}
		})
	}
	if created < 15 {
		t.Errorf("%d of 20 creations succeed", created)
	}
}

// If a lost key cannot be revoked, also not when it is closed, the end of the process revokes it. Because it expires,
// some reasons are only warnings.
func TestIssue_RevokesAtTheEnd(t *testing.T) {
	for status, severity := range map[int]diag.Severity{
		http.StatusInternalServerError: diag.SeverityError, http.StatusTooManyRequests: diag.SeverityWarning,
		http.StatusUnauthorized: diag.SeverityWarning,
	} {
		synctest.Test(t, func(t *testing.T) {
			service, meta := newService(t, simulator.Config{})
			fault := simulator.Fault{Method: http.MethodDelete, Path: "/api-keys", Status: status}
			if err := service.AddFault(fault); err != nil {
				t.Fatal(err)
			}
			_, err := issue(t.Context(), meta, jobKey)
			keys := listKeys(t, service)
			if err == nil || len(keys) != 2 {
				t.Fatalf("status %d: %v, keys %v", status, err, keys)
			}
			var diags diag.Diagnostics
			lost := slices.IndexFunc(keys, func(key rental.APIKey) bool { return key.Name == jobKey.Name })
			key := newEphemeralKey(keys[lost])
			addCannotRevoke(&diags, key, key.revoke(t.Context(), meta))
			if diags[0].Severity() != severity || !strings.Contains(diags[0].Detail(), "works until it expires (at 2000") {
				t.Errorf("status %d: %v", status, diags)
			}
			service.ClearFaults()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if errs := meta.Cleanup.Run(ctx); len(errs) > 0 || len(listKeys(t, service)) != 1 {
				t.Errorf("status %d: %v, keys %v", status, errs, listKeys(t, service))
			}
			if err := key.revoke(t.Context(), meta); err != nil {
				t.Errorf("status %d: a key that is revoked already: %v", status, err)
			}
		})
	}
}

// jobKey is a key that a test creates.
var jobKey = rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read"}, ExpiresInDays: new(int64(1))}

// newService returns a service that loses the response to the first creation, and a provider for it.
func newService(t *testing.T, config simulator.Config) (*simulator.Simulator, *tfkit.Meta) {
	t.Helper()
	config.Market, config.APIKey = simulator.MarketStill, rentaltest.Key
	service, err := quirks.NewSimulator(config)
	if err != nil {
		t.Fatal(err)
	}
	lost := simulator.Fault{Method: http.MethodPost, Path: "/api-keys", Drop: simulator.DropAfter, Times: 1}
	if err := service.AddFault(lost); err != nil {
		t.Fatal(err)
	}
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: rentaltest.Key, Transport: transport{service.Handler()},
		MaxRetries: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, &tfkit.Meta{Client: client, Cleanup: new(tfkit.Cleanup)}
}

// transport sends requests to a handler.
type transport struct{ http.Handler }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return rentaltest.Serve(t, req)
}

// listKeys returns the keys of the account without quirks.
func listKeys(t *testing.T, service *simulator.Simulator) []rental.APIKey {
	t.Helper()
	ctx := quirks.Without(context.WithoutCancel(t.Context()))
	req := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/api-keys", nil)
	req.Header.Set("Authorization", "Bearer "+rentaltest.Key)
	resp, err := rentaltest.Serve(service.Handler(), req)
	if err != nil {
		t.Fatal(err)
	}
	var page struct{ Data []rental.APIKey }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	return page.Data
}

func TestMayBeCreated(t *testing.T) {
	days, at := int64(1), time.Now()
	create := rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read", "billing:read"}, ExpiresInDays: &days}
	lost := rental.APIKey{ID: "key", Name: "job", Scopes: []string{"billing:read", "user:read"}, ExpiresAt: &at}
	for name, test := range map[string]struct {
		change func(*rental.APIKey)
		want   bool
	}{
		"equal":          {func(*rental.APIKey) {}, true},
		"used":           {func(k *rental.APIKey) { k.LastUsedAt = &at }, false},
		"other name":     {func(k *rental.APIKey) { k.Name = "jobs" }, false},
		"fewer scopes":   {func(k *rental.APIKey) { k.Scopes = k.Scopes[:1] }, false},
		"created before": {func(k *rental.APIKey) { k.CreatedAt = at.Add(-time.Hour) }, false},
		"created after":  {func(k *rental.APIKey) { k.CreatedAt = at.Add(time.Second) }, true},
		"never expires":  {func(k *rental.APIKey) { k.ExpiresAt = nil }, false},
		"only an id":     {func(k *rental.APIKey) { *k = rental.APIKey{ID: "key"} }, false},
	} {
		key := lost
		if test.change(&key); mayBeCreated(create, key, at) != test.want {
			t.Errorf("%s: matches: %t, want %t", name, !test.want, test.want)
		}
	}
}
