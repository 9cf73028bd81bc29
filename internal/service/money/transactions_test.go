package money_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The arguments select entries of the ledger, the newest first: by default 100.
func TestTransactions_Arguments(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	instances, all := createTransactions(t, env, 150)
	p := acctest.Configured(t, env.Arguments())
	saved := regexp.MustCompile(`"id":tftypes.String<"([^"]+)">`)
	for name, test := range map[string]struct {
		arguments map[string]any
		want      func(transaction) bool
		most      int
	}{
		"default": {nil, func(transaction) bool { return true }, 100},
		"all":     {map[string]any{"max_results": int64(1000)}, func(transaction) bool { return true }, 1000},
		"types": {map[string]any{"types": []any{"promo_grant"}},
			func(e transaction) bool { return e.Type == "promo_grant" }, 100},
		"charges of an instance": {
			map[string]any{"instance_id": instances[0], "types": []any{"usage", "bandwidth"}, "max_results": int64(3)},
			func(e transaction) bool { return e.InstanceID == instances[0] }, 3,
		},
		"no match": {map[string]any{"types": []any{"reversal"}}, func(transaction) bool { return false }, 100},
	} {
		var want, got []string
		for _, e := range all {
			if test.want(e) && len(want) < test.most {
				want = append(want, e.ID)
			}
		}
		state, diags := p.Data("gpurent_transactions", test.arguments)
		for _, match := range saved.FindAllStringSubmatch(state, -1) {
			got = append(got, match[1])
		}
		if !slices.Equal(got, want) || len(diags) > 0 {
			t.Errorf("%s: %d entries, want %d: %s", name, len(got), len(want), acctest.Texts(diags))
		}
		if name == "types" && !strings.Contains(state, `"instance_id":tftypes.String<null>`) {
			t.Errorf("a credit has an instance: %s", state)
		}
	}
}
