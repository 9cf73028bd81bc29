package apikey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The plan at apply equals the first plan, even if the rotation becomes due between them. The next plan rotates the
// key.
func TestAccAPIKey_rotationDueBetweenPlanAndApply(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	w := env.Workspace(env.Config(config(`expires_in_days = 30`, `rotate_before_days = 3`)))
	w.Run("apply", "-no-color", "-auto-approve")
	// The new template is created first, so the provider has the time of the service when the apply plans the key.
	w.Configure(env.Config(
		config(`expires_in_days = 30`, `rotate_before_days = 29`, `depends_on = [gpurent_template.new]`),
		"resource \"gpurent_template\" \"new\" {\n  name = \"new\"\n  image = \"ubuntu:24.04\"\n}\n"))
	w.Run("plan", "-no-color", "-out=saved.plan")
	env.Advance(20 * day)
	if output := w.Run("apply", "-no-color", "saved.plan"); !strings.Contains(output, "1 added, 1 changed, 0 destroyed") {
		t.Errorf("the apply replaces the key:\n%s", output)
	}
	if plan := w.Run("plan", "-no-color"); !strings.Contains(plan, address+" must be replaced") {
		t.Errorf("the next plan does not replace the key:\n%s", plan)
	}
}

// A plan with an unknown rotate_before_days replaces the key.
func TestAccAPIKey_unknownRotation(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	withDays := func(days int) string {
		return env.Config(config(`expires_in_days = 30`, `rotate_before_days = terraform_data.days.output`),
			fmt.Sprintf("resource \"terraform_data\" \"days\" {\n  input = %d\n}\n", days))
	}
	w := env.Workspace(withDays(3))
	w.Run("apply", "-no-color", "-auto-approve")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	w.Configure(withDays(4))
	if plan := w.Run("plan", "-no-color"); !strings.Contains(plan, address+" must be replaced") {
		t.Errorf("the plan does not replace the key:\n%s", plan)
	}
}
