package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// errorSummaries returns the summaries of the errors.
func errorSummaries(diags []*tfprotov6.Diagnostic) (summaries []string) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			summaries = append(summaries, d.Summary)
		}
	}
	return summaries
}

func expectCount(t *testing.T, env *acctest.Env, active, ever int) {
	t.Helper()
	if err := env.Left("instances", active); err != nil {
		t.Error(err)
	}
	if ever < 0 {
		return
	}
	if err := env.Left("instances?status=all", ever); err != nil {
		t.Error("ever rented:", err)
	}
}

// cheapestOffer returns the offer that configWithKey rents from, and its price.
func cheapestOffer(env *acctest.Env) (acctest.Offer, int64) {
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	return offer, offer.Price.OnDemandKopH
}

// configWithOffer is configWithKey with an offer and a cap.
func configWithOffer(name, offerID string, limit int64, arguments ...any) map[string]any {
	arguments = append([]any{"offer_query", nil, "offer_id", offerID, "max_price_kop_h", limit}, arguments...)
	return configWithKey(name, arguments...)
}

func stringOf(value tftypes.Value) (text string) {
	if err := value.As(&text); err != nil {
		panic(err)
	}
	return text
}

// hasError reports whether there is an error among the diagnostics.
func hasError(diags []*tfprotov6.Diagnostic) bool {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return true
		}
	}
	return false
}

// diagsText returns all diagnostics as one text.
func diagsText(diags []*tfprotov6.Diagnostic) string {
	var text strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&text, "%s: %s: %s\n", d.Severity, d.Summary, d.Detail)
	}
	return text.String()
}

// spendingLimits returns limits that suffice for one instance of the price, and not for two.
func spendingLimits(price int64) map[string]any {
	return map[string]any{"spending": map[string]any{"require_funds": "error", "max_burn_kop_h": price * 3 / 2}}
}

// configWithKey returns the configuration of an instance with an idempotency key.
func configWithKey(name string, arguments ...any) map[string]any {
	config := map[string]any{
		"template": "pytorch", "disk_gb": int64(60), "name": name, "idempotency_key": "key-" + name,
		"offer_query": map[string]any{"gpu": []any{"rtx_4090"}, "num_gpus": []any{int64(1)}},
	}
	for i := 0; i < len(arguments); i += 2 {
		config[arguments[i].(string)] = arguments[i+1]
	}
	return config
}

// expectDiags fails the test unless the diagnostics contain the texts. Without texts, it fails unless there are no
// diagnostics.
func expectDiags(t *testing.T, what string, diags []*tfprotov6.Diagnostic, want ...string) {
	t.Helper()
	text := acctest.Words(diagsText(diags))
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%s: no %q in:\n%s", what, part, text)
		}
	}
	if len(want) == 0 && text != "" {
		t.Errorf("%s:\n%s", what, text)
	}
}

func setAvailable(t *testing.T, env *acctest.Env, offerID string, is bool) {
	t.Helper()
	if err := env.SetOffer(offerID, simulator.OfferPatch{Available: &is}); err != nil {
		t.Error(err)
	}
}

func setAccount(t *testing.T, env *acctest.Env, patch simulator.AccountPatch) {
	t.Helper()
	if err := env.SetAccount(patch); err != nil {
		t.Error(err)
	}
}

// createAll creates instances in a separate run.
func createAll(t *testing.T, env *acctest.Env, configs ...map[string]any) []*resourceState {
	t.Helper()
	tf := newProvider(t, env, nil)
	var instances []*resourceState
	for _, config := range configs {
		inst, diags := tf.apply(nil, config)
		expectDiags(t, "a server", diags)
		instances = append(instances, inst)
	}
	return instances
}

// configWithoutKey returns the configuration of an instance without an idempotency key.
func configWithoutKey(name string, arguments ...any) map[string]any {
	return configWithKey(name, append([]any{"idempotency_key", nil}, arguments...)...)
}

const burnLimitExceeded = "Burn rate would exceed max_burn_kop_h"

// totalBurn returns the burn rate of all instances while running, in kopecks per hour.
func totalBurn(env *acctest.Env) int64 {
	type instance struct {
		Price struct {
			RunningKopH int64 `json:"running_kop_h"`
		}
	}
	total := int64(0)
	for _, inst := range acctest.Fetch[struct{ Data []instance }](env, "instances").Data {
		total += inst.Price.RunningKopH
	}
	return total
}

// diagsAsShown returns all diagnostics as a CLI shows them.
func diagsAsShown(diags []*tfprotov6.Diagnostic) string {
	return strings.NewReplacer("ERROR: ", "Error: ", "WARNING: ", "Warning: ").Replace(acctest.Words(diagsText(diags)))
}
