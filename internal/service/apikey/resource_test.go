package apikey_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const kind = "gpurent_api_key"

type arguments = map[string]any

// ci returns the arguments of a key for 30 days.
func ci(rotateBeforeDays any) arguments {
	return arguments{
		"name": "ci", "scopes": []any{"instances:read"}, "expires_in_days": int64(30), "rotate_before_days": rotateBeforeDays,
	}
}

// A plan that destroys, replaces or rotates the provider's own key warns. The apply revokes the key.
func TestPlan_OwnKeyWarns(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	provider := env.Arguments()
	provider["api_key"] = env.Secret(
		`{"name":"ci","scopes":["instances:read","instances:write","user:read","user:write"],"expires_in_days":30}`)
	own := func(name string, rotateBeforeDays any) arguments {
		config := ci(rotateBeforeDays)
		config["name"] = name
		config["scopes"] = []any{"instances:read", "instances:write", "user:read", "user:write"}
		return config
	}
	keys := acctest.Fetch[struct{ Data []struct{ ID, Name string } }](env, "api-keys").Data
	i := slices.IndexFunc(keys, func(k struct{ ID, Name string }) bool { return k.Name == "ci" })
	p := acctest.Configured(t, provider)
	key, diags := p.Import(kind, keys[i].ID)
	if len(diags) > 0 {
		t.Fatal(acctest.Texts(diags))
	}
	plan := func(config arguments, want bool) {
		t.Helper()
		_, diags := p.Plan(key, config)
		if text := acctest.Texts(diags); strings.Contains(text, "The provider's own API key will be revoked") != want {
			t.Errorf("%v: want a warning: %t: %s", config, want, text)
		}
	}
	plan(own("ci", nil), false)
	plan(nil, true)
	plan(own("renamed", nil), true)
	env.Advance(26 * day)
	p = acctest.Configured(t, provider)
	key, _ = p.Refresh(key)
	plan(own("ci", int64(5)), true)
	p.Destroy(key)
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
}

// The plan at apply equals the first plan, even if the rotation becomes due between them and the process has read the
// time of the service. The next plan rotates the key, and so does an unknown rotate_before_days.
func TestPlan_RotationDueBetweenPlanAndApply(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	p := acctest.Configured(t, env.Arguments())
	key, _ := p.Create(kind, ci(int64(3)))
	key, _ = p.Refresh(key)
	first, _ := p.Plan(key, ci(int64(29)))
	env.Advance(20 * day)
	p = acctest.Configured(t, env.Arguments())
	p.Create("gpurent_template", arguments{"name": "new", "image": "ubuntu:24.04"})
	second, _ := p.Plan(key, ci(int64(29)))
	if len(first.Replaces)+len(second.Replaces) > 0 || !first.Planned.State.Equal(second.Planned.State) {
		t.Errorf("the plan at apply is %v, before %v", second, first)
	}
	key, _ = p.Apply(second)
	for _, days := range []any{int64(29), tftypes.UnknownValue} {
		key, _ = acctest.Configured(t, env.Arguments()).Refresh(key)
		if next, _ := p.Plan(key, ci(days)); !slices.Equal(next.Replaces, []string{"expires_at"}) {
			t.Errorf("the next plan replaces the key because of %v", next.Replaces)
		}
	}
	p.Destroy(key)
}

// open opens an ephemeral key, and returns its attributes.
func open(t *testing.T, p acctest.Plugin, config arguments) (
	key map[string]tftypes.Value, opened *tfprotov6.OpenEphemeralResourceResponse,
) {
	t.Helper()
	typ := p.EphemeralResourceSchemas[kind].ValueType()
	opened, err := p.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{
		TypeName: kind, Config: acctest.Pack(t, acctest.Value(typ, config)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.Diagnostics) > 0 {
		return nil, opened
	}
	value, err := opened.Result.Unmarshal(typ)
	if err == nil {
		err = value.As(&key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key, opened
}

// An ephemeral key lives for a day by default, and its close revokes it.
func TestEphemeral_OpenAndClose(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums")) // the source of a key is one
	p := acctest.Configured(t, env.Arguments())
	config := arguments{"name": "job", "scopes": []any{"instances:read"}}
	for _, days := range []int64{1, 30} {
		if days > 1 {
			config["expires_in_days"] = days
		}
		key, opened := open(t, p, config)
		if err := env.Left("api-keys", 2); err != nil {
			t.Error(err)
		}
		text := func(name string) (text string) {
			if err := key[name].As(&text); err != nil {
				t.Error(err)
			}
			return text
		}
		from, err := time.Parse(time.RFC3339, text("created_at"))
		to, errTo := time.Parse(time.RFC3339, text("expires_at"))
		if err != nil || errTo != nil || to.Sub(from) != time.Duration(days)*day ||
			!key["expires_in_days"].Equal(tftypes.NewValue(tftypes.Number, days)) {
			t.Errorf("the key lives from %s to %s, want %d days", from, to, days)
		}
		if len(text("secret")) != 44 || len(text("prefix")) != 8 || text("source") != "api" || text("id") == "" {
			t.Errorf("the key is %v", key)
		}
		closed, err := p.CloseEphemeralResource(t.Context(), &tfprotov6.CloseEphemeralResourceRequest{
			TypeName: kind, Private: opened.Private,
		})
		if err != nil || len(closed.Diagnostics) > 0 {
			t.Error(err, closed)
		}
		if err := env.OnlyKeyLeft(); err != nil {
			t.Error(err)
		}
	}
}

// A key cannot give scopes that it lacks. The API returns the same error if the key lacks the scope of the request, so
// the error of the provider contains both.
func TestEphemeral_MissingPermissions(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	for _, scopes := range []string{`"user:read","user:write"`, `"user:read","instances:read"`} {
		provider := env.Arguments()
		provider["api_key"] = env.Secret(`{"name":"narrow","scopes":[` + scopes + `]}`)
		_, opened := open(t, acctest.Configured(t, provider), arguments{"name": "job", "scopes": []any{"instances:read"}})
		const want = "lacks the scope user:write, or one of the scopes of the new key (instances:read)"
		if text := acctest.Texts(opened.Diagnostics); !strings.Contains(text, want) {
			t.Errorf("%s: %s", scopes, text)
		}
	}
	if err := env.Left("api-keys", 3); err != nil {
		t.Error(err)
	}
}
