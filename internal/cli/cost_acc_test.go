package cli_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The plans of the CLI under test pass through the command: a creation, no change, and a destruction.
func TestAccCost_plans(t *testing.T) {
	env := acctest.Start(t)
	workspace := env.Workspace(strings.Replace(config, "disk_gb  = 60", "disk_gb  = 60\n  max_price_kop_h = 9000", 1))
	plan := func(arguments ...string) string {
		workspace.Run(append([]string{"plan", "-no-color", "-out=saved.plan"}, arguments...)...)
		output := workspace.Run("show", "-json", "saved.plan")
		return writeFile(t, output[strings.Index(output, "{"):]) //nolint:gocritic // a plan is an object
	}
	for _, test := range []struct{ plan, want string }{
		{plan(), "| `gpurent_instance.server` | create | 0.00 ₽ | up to 90.00 ₽ + disk |"},
		{func() string { workspace.Run("apply", "-auto-approve", "-no-color"); return plan() }(), "| 1 unchanged |"},
		{plan("-destroy"), "| `gpurent_instance.server` | destroy |"},
	} {
		comment, stderr, code := costOf(test.plan, "--format", "markdown")
		if code != 0 || !strings.Contains(comment, test.want) {
			t.Errorf("exit %d: %s%s", code, comment, stderr)
		}
	}
}
