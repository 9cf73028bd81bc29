package cli_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The plans of the CLI under test pass through the command: a review, the same plan, no change, and a destruction.
func TestAccCost_reviewOfPlan(t *testing.T) {
	env := acctest.Start(t)
	workspace := env.Workspace(strings.Replace(config, "disk_gb  = 60", "disk_gb  = 60\n  max_price_kop_h = 9000", 1))
	plan := func(arguments ...string) string {
		workspace.Run(append([]string{"plan", "-no-color", "-out=saved.plan"}, arguments...)...)
		output := workspace.Run("show", "-json", "saved.plan")
		return writeFile(t, output[strings.Index(output, "{"):]) //nolint:gocritic // a plan is an object
	}
	first := plan()
	comment, stderr, code := costOf(first, "--format", "markdown")
	if code != 0 || !strings.Contains(comment, "| `gpurent_instance.server` | create | 0.00 ₽ | up to 90.00 ₽ + disk |") {
		t.Fatalf("exit %d: %s%s", code, comment, stderr)
	}
	review := writeFile(t, comment)
	for _, test := range []struct {
		name, plan string
		code       int
	}{
		{"the same plan", first, 0},
		{"no change", func() string { workspace.Run("apply", "-auto-approve", "-no-color"); return plan() }(), 0},
		{"a destruction", plan("-destroy"), 4},
	} {
		if _, stderr, code := costOf(test.plan, "--reviewed", review); code != test.code {
			t.Errorf("%s: exit %d: %s", test.name, code, stderr)
		}
	}
}
