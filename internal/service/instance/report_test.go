package instance

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Each reason for a stop has its own advice; one that this version does not know is told as it is.
func TestStopAdvice(t *testing.T) {
	for reason, want := range map[string]string{
		rental.StopReasonUser:       "by hand",
		rental.StopReasonLowBalance: "Top up",
		rental.StopReasonAdmin:      "support",
		rental.StopReasonProvider:   "replace it",
		"meteor":                    `"meteor"`,
	} {
		if got := stopAdvice(reason); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not say %q", reason, got, want)
		}
	}
}
