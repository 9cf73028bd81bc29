package sshkey_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const kind = "gpurent_ssh_key"

func key(publicKey string) map[string]any {
	return map[string]any{"name": "me", "public_key": publicKey}
}

// The fingerprint of an imported key, the key, and the key with another comment are equivalent in a configuration.
func TestPlan_FingerprintOfImportedKey(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	p := acctest.Configured(t, env.Arguments())
	created, _ := p.Create(kind, key(exampleKey))
	imported, _ := p.Import(kind, created.Text("id"))
	for name, test := range map[string]struct {
		prior     acctest.Object
		publicKey string
		planned   string // the key in the state
		replaces  []string
	}{
		"fingerprint":         {imported, fingerprint, fingerprint, nil},
		"key of an import":    {imported, exampleKey, exampleKey, nil},
		"fingerprint of key":  {created, fingerprint, exampleKey, nil},
		"another comment":     {created, "  " + exampleKey + "   another comment\n", exampleKey, nil},
		"another key":         {imported, otherKey, otherKey, []string{"public_key"}},
		"another key of ours": {created, otherKey, otherKey, []string{"public_key"}},
	} {
		plan, diags := p.Plan(test.prior, key(test.publicKey))
		if got := plan.Planned.Text("public_key"); got != test.planned || !slices.Equal(plan.Replaces, test.replaces) ||
			len(diags) > 0 {
			t.Errorf("%s: planned %s, replaced because of %v: %s", name, got, plan.Replaces, acctest.Texts(diags))
		}
	}
	_, diags := p.Plan(p.None(kind), key(fingerprint))
	if text := acctest.Texts(diags); !strings.Contains(text, "fingerprint, which is valid only for an imported key") {
		t.Errorf("a creation with a fingerprint: %s", text)
	}
}

// A data source finds a key by another notation of the fingerprint.
func TestDataSource_FingerprintNotation(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	p := acctest.Configured(t, env.Arguments())
	created, _ := p.Create(kind, key(exampleKey))
	env.Advance(time.Minute) // a list may lack a new key for a while
	bare := strings.TrimPrefix(fingerprint, "SHA256:") + "="
	state, diags := p.Data(kind, map[string]any{"fingerprint": bare})
	for _, want := range []string{created.Text("id"), fingerprint} {
		if !strings.Contains(state, `"`+want+`"`) {
			t.Errorf("%s %s", state, acctest.Texts(diags))
		}
	}
}
