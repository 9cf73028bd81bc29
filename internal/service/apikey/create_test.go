package apikey

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// A key whose secret is missing in the response is revoked: at once, or, if that fails, at the end of the process.
// Because it expires, some reasons of a failed revocation are only warnings.
func TestIssue_RevokesKeyWithoutSecret(t *testing.T) {
	for status, severity := range map[int]diag.Severity{
		0: diag.SeverityInvalid, http.StatusInternalServerError: diag.SeverityError,
		http.StatusTooManyRequests: diag.SeverityWarning, http.StatusUnauthorized: diag.SeverityWarning,
	} {
		synctest.Test(t, func(t *testing.T) {
			service, err := simulator.New(simulator.Config{Market: simulator.MarketStill, APIKey: rentaltest.Key})
			if err != nil {
				t.Fatal(err)
			}
			client, err := rental.New(rental.Config{
				BaseURL: "https://rent.example/api/v1", APIKey: rentaltest.Key, Transport: withoutSecret{service.Handler()},
			})
			if err != nil {
				t.Fatal(err)
			}
			if status != 0 {
				fault := simulator.Fault{Method: http.MethodDelete, Path: "/api-keys", Status: status}
				if err := service.AddFault(fault); err != nil {
					t.Fatal(err)
				}
			}
			meta := &tfkit.Meta{Client: client, Cleanup: new(tfkit.Cleanup)}
			_, err = issue(t.Context(), meta, rental.APIKeyCreate{
				Name: "job", Scopes: []string{"user:read"}, ExpiresInDays: new(int64(1)),
			})
			left := keysNamed(t, client, "job")
			if err == nil || (status == 0) != (len(left) == 0) {
				t.Fatalf("status %d: %v, keys %v", status, err, left)
			}
			for _, unusable := range left {
				var diags diag.Diagnostics
				key := newEphemeralKey(unusable)
				addCannotRevoke(&diags, key, key.revoke(t.Context(), meta))
				if diags[0].Severity() != severity || !strings.Contains(diags[0].Detail(), "works until it expires (at 2000") {
					t.Errorf("status %d: %v", status, diags)
				}
			}
			service.ClearFaults()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if errs := meta.Cleanup.Run(ctx); len(errs) > 0 || len(keysNamed(t, client, "job")) != 0 {
				t.Errorf("status %d: %v", status, errs)
			}
		})
	}
}

// withoutSecret sends requests to a handler, and removes the secret from the response to a creation.
type withoutSecret struct{ http.Handler }

func (h withoutSecret) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := rentaltest.Serve(h, req)
	if err != nil || req.Method != http.MethodPost {
		return resp, err
	}
	var body map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return nil, err
	}
	delete(body, "secret")
	data, err := json.Marshal(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	resp.Header.Del("Content-Length")
	return resp, err
}

func keysNamed(t *testing.T, client *rental.Client, name string) (named []rental.APIKey) {
	t.Helper()
	for key, err := range client.ListAPIKeys(t.Context(), rental.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if key.Name == name {
			named = append(named, key)
		}
	}
	return named
}
