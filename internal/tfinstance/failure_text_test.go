package tfinstance

import (
	"errors"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Each reason has its own text. A refusal has the message of the API and its request id.
func TestLastOfferText(t *testing.T) {
	refusal := &rental.Error{
		Method: "POST", Path: "/instances", Status: 409, Code: rental.CodeConflict, Message: "instance limit reached",
		RequestID: "req_1",
	}
	for want, err := range map[tfkit.Text]error{
		"The API refused to rent the last offer, off_1: POST /instances: 409 conflict: instance limit reached " +
			"(request id req_1)": &failure.Error{
			Kind: failure.OfferRefused, OfferID: "off_1", Availability: failure.Available, Err: refusal,
		},
		"The last offer, off_1, is not available": &failure.Error{
			Kind: failure.OfferRefused, OfferID: "off_1", Availability: failure.NotAvailable,
		},
		"The last offer, off_1, cannot be rented as interruptible": &failure.Error{
			Kind: failure.OfferRefused, OfferID: "off_1", Availability: failure.NoPriceForType,
		},
		"The offers could not be read: timeout": &failure.Error{
			Kind: failure.OffersUnreadable, Err: errors.New("timeout"),
		},
		"The last offer: timeout": errors.New("timeout"),
	} {
		if got := LastOfferText(err); got != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}
