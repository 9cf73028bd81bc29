package tfinstance

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Each reason for a stop has its own advice. An unknown one is quoted.
func TestStopAdvice(t *testing.T) {
	for reason, want := range map[string]string{
		rental.StopReasonUser:       "by a user",
		rental.StopReasonLowBalance: "Top up",
		rental.StopReasonAdmin:      "support",
		rental.StopReasonProvider:   "replace the instance",
		"meteor":                    `"meteor"`,
	} {
		if got := StopAdvice(reason); !strings.Contains(string(got), want) {
			t.Errorf("%s: %q does not contain %q", reason, got, want)
		}
	}
}
