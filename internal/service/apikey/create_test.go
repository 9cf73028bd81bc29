package apikey

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// A key whose secret is missing in the response is revoked: at once, or, if that fails, at the end of the process.
// Because it expires, some reasons of a failed revocation are only warnings.
func TestIssue_RevokesKeyWithoutSecret(t *testing.T) {
	unusable := rental.APIKey{ID: "key_1", Name: "job", ExpiresAt: new(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC))}
	revoked := rentaltest.Respond(http.StatusNoContent, nil)
	for status, severity := range map[int]diag.Severity{
		http.StatusNoContent: diag.SeverityInvalid, http.StatusInternalServerError: diag.SeverityError,
		http.StatusTooManyRequests: diag.SeverityWarning, http.StatusUnauthorized: diag.SeverityWarning,
	} {
		synctest.Test(t, func(t *testing.T) {
			api := new(rentaltest.Transport)
			api.Script("POST /api-keys", rentaltest.Respond(http.StatusCreated, unusable))
			api.Script("DELETE /api-keys/key_1", rentaltest.Fail(status))
			if status == http.StatusNoContent {
				api.Script("DELETE /api-keys/key_1", revoked)
			}
			meta := &tfkit.Meta{Client: rentaltest.Client(t, api), Cleanup: new(tfkit.Cleanup)}
			_, err := issue(t.Context(), meta, rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read"}})
			if err == nil || len(api.Sent("DELETE /api-keys/*")) == 0 {
				t.Fatalf("status %d: %v, %q", status, err, api.Sent(""))
			}
			if status != http.StatusNoContent {
				var diags diag.Diagnostics
				key := newEphemeralKey(unusable)
				addCannotRevoke(&diags, key, key.revoke(t.Context(), meta))
				if diags[0].Severity() != severity || !strings.Contains(diags[0].Detail(), "works until it expires (at 2000") {
					t.Errorf("status %d: %v", status, diags)
				}
			}
			before := len(api.Sent("DELETE /api-keys/*"))
			api.Script("DELETE /api-keys/key_1", revoked)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			errs := meta.Cleanup.Run(ctx)
			again := len(api.Sent("DELETE /api-keys/*")) > before
			if len(errs) > 0 || again == (status == http.StatusNoContent) {
				t.Errorf("status %d: %v; revoked at the end: %t", status, errs, again)
			}
		})
	}
}
