package lifecycle

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// unreadableAccount refuses the first write because of the request limit, and does not return the balance afterwards.
type unreadableAccount struct {
	next    http.RoundTripper
	refused bool
	status  int // of the balance
	written int
}

func (u *unreadableAccount) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method != http.MethodGet && !u.refused:
		u.refused = true
		resp, err := rentaltest.JSONResponse(req, http.StatusTooManyRequests, rentaltest.Failure(http.StatusTooManyRequests))
		resp.Header.Set("Retry-After", "10")
		return resp, err
	case u.refused && strings.HasSuffix(req.URL.Path, "/balance"):
		return rentaltest.JSONResponse(req, u.status, rentaltest.Failure(u.status))
	case req.Method != http.MethodGet:
		u.written++
	}
	return u.next.RoundTrip(req)
}

// If the account cannot be read right before a rental or start is sent, nothing is sent. The error is not taken for
// that of the rental or start, whatever its status is.
func TestBeforeSend_UnreadableAccount(t *testing.T) {
	for _, status := range []int{401, 403, 404, 503} {
		synctest.Test(t, func(t *testing.T) {
			market := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			api := &unreadableAccount{next: market, status: status}
			m := newLimited(rentaltest.Client(t, api), 1000)
			_, err := m.Rent(t.Context(), newOrder("key"), offerAt("off_1", 100))
			if _, ok := errors.AsType[spending.AccountUnreadable](err); !ok || api.written != 0 {
				t.Errorf("rental, %d: %v, %d writes", status, err, api.written)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			stopped := newInstance("stopped")
			stopped.On["start"] = starts
			api := &unreadableAccount{next: stopped, status: status}
			m := newLimited(rentaltest.Client(t, api), 100_000)
			_, err := m.Converge(t.Context(), stopped.Inst, running(OutbidRestart))
			if _, ok := errors.AsType[spending.AccountUnreadable](err); !ok || api.written != 0 {
				t.Errorf("start, %d: %v, %d writes", status, err, api.written)
			}
		})
	}
}

// An object that has taken an instance does not lose this mark by a plan: the deletion of a tainted object, which may
// be the one that had the instance before, is refused.
func TestOwners_TakenAndPlanned(t *testing.T) {
	var owners Owners
	owners.create("ins_1", Object{Token: "new"}, Taken)
	owners.Claim("ins_1", Object{Token: "new"})
	if _, ok := owners.Claim("ins_1", Object{}); ok {
		t.Error("a deletion without a token is allowed")
	}
}
