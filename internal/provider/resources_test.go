package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// The tests in this file hold for every resource, which has its arguments in samples.

// No resource leaves the state because another account does not have it, neither in a refresh nor in a destruction, or
// because it is so young that the API may not find it yet. In its own account, it leaves the state with a warning, also
// at another address at which it was found before.
func TestOrigin_ObjectsOfAnotherAccountStay(t *testing.T) {
	forEach(t, maps.Keys(samples), func(t *testing.T, env *acctest.Env, kind string) {
		env.Advance(100 * 24 * time.Hour)
		created := run(t, env).createSample(kind)
		otherKey := env.Arguments()
		otherKey["api_key"] = env.Secret(`{"name":"other","scopes":["user:read","instances:read"]}`)
		stays := func(what, want string, after acctest.Object, diags []*tfprotov6.Diagnostic) {
			t.Helper()
			if text := texts(diags); after.State.IsNull() || !strings.Contains(text, want) || want == "" && text != "" {
				t.Errorf("%s: in the state: %t: %s", what, !after.State.IsNull(), text)
			}
		}
		if kind != "gpurent_instance" && kind != "gpurent_fleet" {
			env.Proxy.Set(emptyAccount("usr_same")...)
			after, diags := run(t, env).Refresh(created)
			stays("the refresh of a new object", "", after, diags)
		}
		env.Advance(10 * time.Minute)

		env.Proxy.Set(emptyAccount("usr_other")...)
		p := configured(t, otherKey)
		after, diags := p.Refresh(created)
		stays("the refresh", "to the account usr_other", after, diags)
		after, diags = p.Destroy(created)
		stays("the destruction", "to the account usr_other", after, diags)
		// Terraform stores an object without its private state if the provider was killed during an update.
		lost := created
		lost.Private = nil
		after, diags = p.Refresh(lost)
		stays("the refresh without private state", "in this account", after, diags)
		env.Proxy.Set(emptyAccount("unreadable")...)
		after, diags = configured(t, otherKey).Refresh(created)
		stays("the refresh in an unreadable account", "belongs to this account", after, diags)

		env.Proxy.Set()
		env.BaseURL = strings.Replace(env.BaseURL, "127.0.0.1", "localhost", 1)
		found, _ := run(t, env).Refresh(created)
		env.Proxy.Set(emptyAccount("usr_same")...)
		if kind == "gpurent_fleet" {
			return // a fleet stays in the state with lost members
		}
		otherKey["base_url"] = env.BaseURL
		after, diags = configured(t, otherKey).Refresh(found)
		want := created.Text("id") + ". It leaves the state"
		if text := texts(diags); !after.State.IsNull() || !strings.Contains(text, want) {
			t.Errorf("the refresh in its own account: %s", text)
		}
	})
}

// Terraform passes no private state to the deletion of a tainted object. If it fails, and the API has found the object,
// the account is stored, so that the next deletion needs no help. Without that proof, nothing is stored.
func TestDelete_FailsForATaintedObject(t *testing.T) {
	forEach(t, maps.Keys(samples), func(t *testing.T, env *acctest.Env, kind string) {
		tainted := run(t, env).createSample(kind)
		tainted.Private = nil
		env.Advance(time.Hour)
		failsAfter := func(what string, response simtest.Interceptor, others ...simtest.Rule) acctest.Object {
			t.Helper()
			p := run(t, env)
			deletes := simtest.Request("DELETE", ".*").Do(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
				response(w, r, api)
				_, _ = p.StopProvider(t.Context(), &tfprotov6.StopProviderRequest{}) //nolint:errcheck // it has none
			})
			env.Proxy.Set(append([]simtest.Rule{deletes}, others...)...)
			after, diags := p.Destroy(tainted)
			if after.State.IsNull() || len(diags) == 0 {
				t.Errorf("%s: in the state: %t, %s", what, !after.State.IsNull(), texts(diags))
			}
			env.Proxy.Set(emptyAccount("usr_same")...)
			return after
		}
		if kind != "gpurent_fleet" { // it reads its members first
			refuse := simtest.Fail(403)
			after := failsAfter("a deletion without permission", refuse, emptyAccount("usr_same")...)
			after, diags := run(t, env).Destroy(after)
			if text := texts(diags); after.State.IsNull() || !strings.Contains(text, "does not contain the account") {
				t.Errorf("the deletion of an object that was never found: %s", text)
			}
		}
		response := simtest.Pass // accepted: it is being destroyed
		if collections[kind] != "" {
			response = simtest.Fail(409)
		}
		after := failsAfter("a deletion that the API has accepted or refused", response)
		after, diags := run(t, env).Destroy(after)
		if text := texts(diags); !after.State.IsNull() || text != "" {
			t.Errorf("the next deletion: in the state: %t, %s", !after.State.IsNull(), text)
		}
	})
}

// A process that has created or read an instance destroys it, too, if Terraform passes no private state, as for the
// replacement of a tainted one.
func TestDelete_TaintedObjectOfThisProcess(t *testing.T) {
	forEach(t, slices.Values(rented), func(t *testing.T, env *acctest.Env, kind string) {
		for _, refreshed := range []bool{false, true} {
			p := run(t, env)
			tainted := p.createSample(kind)
			if refreshed {
				p = run(t, env)
				tainted, _ = p.Refresh(tainted)
			}
			tainted.Private = nil
			if after, diags := p.Destroy(tainted); !after.State.IsNull() {
				t.Errorf("refreshed %t: %s", refreshed, texts(diags))
			}
			if err := env.NothingLeft("instances"); err != nil {
				t.Error(err)
			}
		}
	})
}

// emptyAccount serves an account without objects. "usr_same" is the id of the account that created the object.
func emptyAccount(id string) []simtest.Rule {
	account := simtest.Respond(200, fmt.Sprintf(`{"id":%q,"name":"Other","created_at":"2026-01-01T00:00:00Z"}`, id))
	switch id {
	case "usr_same":
		account = simtest.Pass
	case "unreadable":
		account = simtest.Fail(401)
	}
	return []simtest.Rule{
		simtest.Request("", "/me").Do(account),
		simtest.Request("GET", "/[^/]+").Do(simtest.Respond(200, `{"data":[],"next_cursor":null}`)),
		simtest.AnyRequest.Do(simtest.Fail(404)),
	}
}

// After a lost response to its creation, the provider neither takes nor deletes an object, because another run may have
// created it. The error asks the user to check what exists.
func TestCollections_LostResponse(t *testing.T) {
	forEach(t, maps.Keys(collections), func(t *testing.T, env *acctest.Env, kind string) {
		list := collections[kind]
		run(t, env).createSample(kind)
		before := listed(env, list)
		env.Proxy.Set(simtest.Request("POST", list).Once().Do(simtest.LoseResponse))
		created, diags := run(t, env).Create(kind, samples[kind])
		text := texts(diags)
		if !created.State.IsNull() || listed(env, list) != before+1 {
			t.Errorf("%d objects, before %d: %s", listed(env, list), before, text)
		}
		for _, want := range []string{"may or may not have been carried out", "data source gpurent_", "import it"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q: %s", want, text)
			}
		}
		run(t, env).createSample(kind)
		acctest.List(env, strings.TrimPrefix(list, "/"), func(created struct{ ID, Name string }) {
			if kind == "gpurent_api_key" && created.Name == samples[kind]["name"] {
				env.Delete("api-keys/" + created.ID)
			}
		})
	})
}

// A response of which only the id can be read proves that the object exists: it is saved. A key without its secret is
// revoked, because nobody can use it.
func TestCollections_UnreadableResponse(t *testing.T) {
	forEach(t, maps.Keys(collections), func(t *testing.T, env *acctest.Env, kind string) {
		list := collections[kind]
		breaks := simtest.Rewrite(func(body map[string]any) {
			for _, field := range []string{"name", "secret"} {
				body[field] = []any{}
			}
		})
		env.Proxy.Set(simtest.Request("POST", list).Do(breaks))
		before := listed(env, list)
		created, diags := run(t, env).Create(kind, samples[kind])
		saved, want := !created.State.IsNull(), kind != "gpurent_api_key"
		if kept := listed(env, list) == before+1; saved != want || kept != want {
			t.Errorf("saved %t, exists %t, want %t: %s", saved, kept, want, texts(diags))
		}
	})
}

// Each argument of a creation is sent in the field of its name, and an error of the API about it is reported at it.
func TestCollections_Arguments(t *testing.T) {
	forEach(t, maps.Keys(collections), func(t *testing.T, env *acctest.Env, kind string) {
		p := run(t, env)
		config := map[string]any{}
		for _, attribute := range sent(p.ResourceSchemas[kind].Block.Attributes) {
			config[attribute.Name] = legal(kind, attribute.Name)[0]
		}
		for name := range config {
			refuse := simtest.Respond(422, fmt.Sprintf(
				`{"error":{"code":"validation_error","message":"no","details":{"issues":[{"field":%q,"message":"no"}]}}}`, name))
			env.Proxy.Set(simtest.Request("POST", collections[kind]).Do(
				func(w http.ResponseWriter, r *http.Request, api http.Handler) {
					var body map[string]any
					if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body[name] == nil {
						t.Errorf("%s of %s is not sent (toCreate): %v, %v", name, kind, body, err)
					}
					refuse(w, r, api)
				}))
			_, diags := p.Create(kind, config)
			if len(diags) != 1 || !diags[0].Attribute.Equal(tftypes.NewAttributePath().WithAttributeName(name)) {
				t.Errorf("an error about %s of %s is not reported at it (AddAPIError): %s", name, kind, texts(diags))
			}
		}
	})
}

// The refresh of an object and all data sources of its kind share one list, which contains an object of the same
// process.
func TestCollections_ListedOnce(t *testing.T) {
	forEach(t, maps.Keys(collections), func(t *testing.T, env *acctest.Env, kind string) {
		p := run(t, env)
		created := p.createSample(kind)
		if all, _ := p.Data(kind+"s", nil); !strings.Contains(all, `"`+created.Text("id")+`"`) {
			t.Errorf("the data source does not list the object of the same process: %s", all)
		}
		env.ClearRequests()
		p = run(t, env)
		p.Refresh(created)
		p.Data(kind+"s", nil)
		p.Data(kind, lookups(p.DataSourceSchemas[kind])[0])
		p.Data("gpurent_gpus", nil)
		p.Data("gpurent_gpu", map[string]any{"slug": "l40s"})
		if n := len(env.Requests()); n != 2 {
			t.Errorf("%d requests, want one for the objects and one for GPU models: %v", n, env.Requests())
		}
		p.Destroy(created)
	}, acctest.WithoutQuirks("lagging-list", "small-pages", "gateway-errors")) // with them, lists need more requests
}

// listed returns the number of objects in a list.
func listed(env *acctest.Env, list string) int {
	return acctest.List(env, strings.TrimPrefix(list, "/")+"?limit=200", func(struct{}) {})
}

// While the address or the key is unknown, a refresh keeps the state, with a warning. An import fails, because the plan
// would replace an object that it cannot read, and so does a data source. Nothing sends a request.
func TestResources_UnknownProviderConfiguration(t *testing.T) {
	for _, unknown := range []string{"base_url", "api_key"} {
		config := map[string]any{"base_url": "http://127.0.0.1:1/api/v1", "api_key": strings.Repeat("k", 44)}
		config[unknown] = tftypes.UnknownValue
		p := configured(t, config)
		const id, want = "id_1", "Provider configuration is unknown"
		if _, diags := p.Data("gpurent_template", map[string]any{"name": "own"}); !strings.HasPrefix(texts(diags), want) {
			t.Errorf("%s unknown: a data source: %s", unknown, texts(diags))
		}
		for kind := range samples {
			imported, diags := p.Import(kind, id)
			if len(diags) != 1 || diags[0].Summary != want || !imported.State.IsNull() {
				t.Errorf("%s unknown: the import of a %s: %s", unknown, kind, texts(diags))
			}
			state := acctest.Pack(t, p.Value(kind, map[string]any{"id": id}))
			read, err := p.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: kind, CurrentState: state})
			must(t, read, err)
			kept := p.Object(kind, read.NewState, nil)
			if text := texts(read.Diagnostics); kept.Text("id") != id || !strings.HasPrefix(text, "Not refreshed") ||
				read.NewIdentity == nil {
				t.Errorf("%s unknown: the refresh of a %s: identity %v: %s", unknown, kind, read.NewIdentity, text)
			}
		}
		const ephemeral = "gpurent_api_key"
		resp, err := p.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{
			TypeName: ephemeral,
			Config:   acctest.Pack(t, acctest.Value(p.EphemeralResourceSchemas[ephemeral].ValueType(), samples[ephemeral])),
		})
		if must(t, resp, err); !strings.Contains(texts(resp.Diagnostics), "argument of the ephemeral resource") {
			t.Errorf("%s unknown: an ephemeral key: %s", unknown, texts(resp.Diagnostics))
		}
	}
}

// A destroy with an unknown base_url or api_key fails without a request, even if the environment has a key, which can
// be one of another account. Data sources do not use that key.
func TestApplyResourceChange_UnknownProviderConfiguration(t *testing.T) {
	for name, test := range map[string]struct {
		unknown string
		key     bool // in the environment
	}{
		"key of the environment": {"api_key", true},
		"no other key":           {"api_key", false},
		"address":                {"base_url", true},
	} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			created, _ := run(t, env).Create("gpurent_template", samples["gpurent_template"])
			testenv.SetHome(t, t.TempDir())
			t.Setenv(provider.EnvBaseURL, "")
			t.Setenv(provider.EnvAPIKey, "")
			if test.key {
				t.Setenv(provider.EnvAPIKey, env.APIKey+"\n")
			}
			config := env.Arguments()
			config[test.unknown] = tftypes.UnknownValue
			p := configured(t, config)
			env.ClearRequests()
			if _, diags := p.Data("gpurent_templates", map[string]any{"owner": "catalog"}); test.unknown == "api_key" &&
				(len(diags) > 0 || len(env.Requests()) == 0 || env.Requests()[0].KeyID != "") {
				t.Errorf("the catalog is not read without a key: %v, %s", env.Requests(), texts(diags))
			}
			_, diags := p.Destroy(created)
			if len(diags) != 1 || diags[0].Summary != "Provider configuration is unknown at apply" {
				t.Errorf("got %s", texts(diags))
			}
			if env.NoOwnTemplate() == nil {
				t.Error("the template was destroyed")
			}
		})
	}
}

// An import fails if there is no such object.
func TestImport_Missing(t *testing.T) {
	forEach(t, maps.Keys(samples), func(t *testing.T, env *acctest.Env, kind string) {
		id := "missing"
		if kind == "gpurent_fleet" {
			id = "w/abcdefghijklmnop"
		}
		if imported, diags := run(t, env).Import(kind, id); !imported.State.IsNull() {
			t.Errorf("imported %s: %s", imported.State, texts(diags))
		}
	})
}

// A plan may not be allowed to read the templates: the apply checks them.
func TestPlan_UnreadableTemplates(t *testing.T) {
	forEach(t, slices.Values(rented), func(t *testing.T, env *acctest.Env, kind string) {
		env.Proxy.Set(simtest.Request("GET", "/templates").Do(simtest.Fail(403)))
		p := run(t, env)
		_, diags := p.Plan(p.None(kind), samples[kind])
		if hasError(diags) {
			t.Error(texts(diags))
		}
	})
}

// Arguments that exclude each other.
func TestValidateResourceConfig_Combinations(t *testing.T) {
	server, all := acctest.ProviderServer(t)
	for kind, test := range map[string]struct {
		arguments map[string]any
		want      string
	}{
		"gpurent_api_key":  {map[string]any{"expires_in_days": int64(3), "rotate_before_days": int64(3)}, "at every apply"},
		"gpurent_template": {map[string]any{"min_disk_gb": int64(50), "recommended_disk_gb": int64(40)}, "below the minimum"},
	} {
		arguments := maps.Clone(samples[kind])
		maps.Copy(arguments, test.arguments)
		resp, err := server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: kind, Config: acctest.Pack(t, acctest.Value(all.ResourceSchemas[kind].ValueType(), arguments)),
		})
		if must(t, resp, err); !strings.Contains(texts(resp.Diagnostics), test.want) {
			t.Errorf("%s: %q, want %q", kind, texts(resp.Diagnostics), test.want)
		}
	}
}

// An argument that is unknown at plan is planned as unknown: Terraform accepts no other final value than a planned one.
// For an existing instance or fleet, the plan can also keep the prior value of an argument that applies at creation
// only.
func TestPlan_UnknownArgumentsStayUnknown(t *testing.T) {
	t.Parallel()
	for _, prefix := range []any{nil, "p-"} {
		// No request can be sent.
		p := configured(t, map[string]any{"base_url": tftypes.UnknownValue, "idempotency_prefix": prefix})
		for kind, sample := range samples {
			rented := collections[kind] == ""
			if prefix != nil && !rented {
				continue
			}
			existing := acctest.Object{Type: kind, State: p.sampleState(kind)}
			for _, attribute := range p.ResourceSchemas[kind].Block.Attributes {
				if !attribute.Optional && !attribute.Required {
					continue
				}
				arguments := maps.Clone(sample)
				arguments[attribute.Name] = tftypes.UnknownValue
				if attribute.Name == "offer_id" {
					arguments["offer_query"] = nil
				}
				for _, prior := range []acctest.Object{p.None(kind), existing} {
					plan, diags := p.Plan(prior, arguments)
					if hasError(diags) {
						t.Fatalf("%s with %v: %s", kind, arguments, texts(diags))
					}
					value := plan.Planned.Attributes()[attribute.Name]
					keeps := rented && !prior.State.IsNull() && value.Equal(prior.Attributes()[attribute.Name])
					if value.IsKnown() && !keeps {
						t.Errorf("%s.%s is planned as %s; exists: %t", kind, attribute.Name, value, !prior.State.IsNull())
					}
				}
			}
		}
	}
}

func hasError(diags []*tfprotov6.Diagnostic) bool {
	return slices.ContainsFunc(diags, func(d *tfprotov6.Diagnostic) bool {
		return d.Severity == tfprotov6.DiagnosticSeverityError
	})
}

// sampleState returns a state with the arguments of a sample, and with texts and numbers for all other attributes.
func (p plugin) sampleState(kind string) tftypes.Value {
	values := map[string]any{}
	for _, attribute := range p.ResourceSchemas[kind].Block.Attributes {
		value, typ := samples[kind][attribute.Name], attribute.ValueType()
		switch {
		case value == nil && attribute.Name != "offer_id" && typ.Is(tftypes.String):
			value = "10m"
		case value == nil && typ.Is(tftypes.Number):
			value = int64(10)
		}
		values[attribute.Name] = value
	}
	return p.Value(kind, values)
}

// A key that was unknown at plan was not validated. A private one is refused at apply, without a request.
func TestSSHKey_PrivateKeyUnknownAtPlanIsNotSent(t *testing.T) {
	env := acctest.Start(t)
	p := run(t, env)
	const kind = "gpurent_ssh_key"
	plan, _ := p.Plan(p.None(kind), map[string]any{"public_key": tftypes.UnknownValue})
	env.ClearRequests()
	for _, private := range []string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0", "PuTTY-User-Key-File-3: ssh-ed25519\nc2VjcmV0",
	} {
		typ, values := plan.Config.Type(), plan.Planned.Attributes()
		values["public_key"] = tftypes.NewValue(tftypes.String, private)
		plan.Planned.State = tftypes.NewValue(typ, values)
		plan.Config = acctest.Value(typ, map[string]any{"public_key": private})
		_, diags := p.Apply(plan)
		if text := texts(diags); !strings.HasPrefix(text, "Not a public key") || strings.Contains(text, "c2VjcmV0") {
			t.Errorf("%q: %s", private, text)
		}
	}
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests, want 0: %v", n, env.Requests())
	}
}

// A key that has expired leaves the state, with a warning, even if the API still lists it.
func TestAPIKey_ExpiredKeyLeavesTheState(t *testing.T) {
	env := acctest.Start(t)
	created := run(t, env).createSample("gpurent_api_key")
	env.Advance(time.Minute) // a list may lack a new key for a while
	env.Proxy.Set(simtest.Request("GET", "/api-keys").Do(simtest.RewriteItems(func(key map[string]any) {
		key["expires_at"] = "2020-02-01T00:00:00Z"
	})))
	p := run(t, env)
	after, diags := p.Refresh(created)
	want := "for expired API key " + created.Text("id") + "."
	if text := texts(diags); !after.State.IsNull() || !strings.Contains(text, want) {
		t.Errorf("in the state: %t: %s", !after.State.IsNull(), text)
	}
	p.Destroy(created)
}
