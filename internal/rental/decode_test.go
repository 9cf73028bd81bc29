package rental

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whole numbers with a fraction or an exponent are whole numbers in every field of every response.
func TestDecode_WholeNumbers(t *testing.T) {
	whole := regexp.MustCompile(`([:,\[]\s*)(-?\d+)([,}\]])`)
	for _, spelling := range []string{"$1$2.0$3", "$1${2}e0$3", "$1${2}0E-1$3", "$1$2.000e+00$3"} {
		for _, op := range operations(t) {
			client, _ := scriptedClient(t, reply{status: op.status, body: whole.ReplaceAllString(op.response, spelling)})
			got, err := op.do(t.Context(), client)
			if diff := cmp.Diff(op.want, got); err != nil || diff != "" {
				t.Errorf("%s with %s: %v (-want +got):\n%s", op.id, spelling, err, diff)
			}
		}
	}
	for _, fraction := range []string{"60.5", "1e-1", "9007199254740993.0", "1e30"} {
		body := strings.Replace(instanceJSON, `"running_kop_h":9000`, `"running_kop_h":`+fraction, 1)
		if got := new(Instance); decode([]byte(body), got) == nil {
			t.Errorf("%s is decoded as %+v", fraction, got.Price)
		}
	}
}
