package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// No resource leaves the state because another account does not have it, neither in a refresh nor in a destruction. In
// its own account, it leaves the state with a warning, also at another address at which it was found before.
func TestOrigin_ObjectsOfAnotherAccountStay(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]map[string]any{
		"gpurent_instance": {"template": "pytorch", "disk_gb": int64(60), "offer_query": map[string]any{}},
		"gpurent_fleet": {
			"name": "w", "size": int64(1), "template": "pytorch", "disk_gb": int64(60), "offer_queries": []any{map[string]any{}},
		},
		"gpurent_template": {"name": "own", "image": "ubuntu:24.04"},
		"gpurent_ssh_key":  {"public_key": sampleKey},
		"gpurent_api_key":  {"name": "k", "scopes": []any{"user:read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var account atomic.Value // of the key, "" for the actual one
			account.Store("")
			env := acctest.Start(t, acctest.WithWrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					emptyAccount(w, r, next, account.Load().(string))
				})
			}))
			created := apply(t, env, name, arguments)
			env.Advance(10 * time.Minute)

			account.Store("usr_other")
			server, schema := configured(t, env, name)
			read := created.read(t, server)
			destroyed := created.destroy(t, server, schema)
			for what, diags := range map[string][]*tfprotov6.Diagnostic{
				"the refresh": read.Diagnostics, "the destruction": destroyed.Diagnostics,
			} {
				if text := texts(diags); !strings.Contains(text, "in this account") || !strings.Contains(text, "usr_other") {
					t.Errorf("%s: %s", what, text)
				}
			}
			for what, state := range map[string]*tfprotov6.DynamicValue{
				"the refresh": read.NewState, "the destruction": destroyed.NewState,
			} {
				if isNull(t, state, schema) {
					t.Errorf("%s removes it from the state", what)
				}
			}

			// Terraform stores an object without its private state if the provider was killed during an update.
			lost := created
			lost.private = nil
			read = lost.read(t, server)
			if text := texts(read.Diagnostics); isNull(t, read.NewState, schema) || !strings.Contains(text, "in this account") {
				t.Errorf("the refresh without private state: %s", text)
			}

			account.Store("")
			env.BaseURL = strings.Replace(env.BaseURL, "127.0.0.1", "localhost", 1)
			server, _ = configured(t, env, name)
			created.private = created.read(t, server).Private
			account.Store("usr_same")
			server, schema = configured(t, env, name)
			if name == "gpurent_fleet" {
				return // a fleet stays in the state with lost members
			}
			read = created.read(t, server)
			text := texts(read.Diagnostics)
			if !isNull(t, read.NewState, schema) || !strings.Contains(text, "no longer exists") {
				t.Errorf("the refresh in its own account: %s", text)
			}
		})
	}
}

const sampleKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIDkFKvmQJY0PZmSyZyVYIXqx0zwJ0l3VvN6bXvK2pmc"

// emptyAccount serves an account without objects. "usr_same" is the id of the account that created the object.
func emptyAccount(w http.ResponseWriter, r *http.Request, next http.Handler, id string) {
	path := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/v1"), "/"), "/")
	switch {
	case id == "" || path[0] == "me" && id == "usr_same":
		next.ServeHTTP(w, r)
	case path[0] == "me":
		fmt.Fprintf(w, `{"id":%q,"name":"Other","created_at":"2026-01-01T00:00:00Z"}`, id)
	case len(path) == 1 && r.Method == http.MethodGet:
		fmt.Fprint(w, `{"data":[],"next_cursor":null}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"code":"not_found","message":"not found"}}`)
	}
}

// object is a created object in a state.
type object struct {
	name    string
	state   *tfprotov6.DynamicValue
	private []byte
}

// configured returns a new provider process for the simulator.
func configured(t *testing.T, env *acctest.Env, name string) (tfprotov6.ProviderServer, *tfprotov6.Schema) {
	t.Helper()
	server, schemas := acctest.ProviderServer(t)
	config := map[string]any{"base_url": env.BaseURL, "api_key": env.APIKey, "poll_interval": "1ms"}
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		Config: acctest.Pack(t, acctest.Value(schemas.Provider.ValueType(), config)),
	})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatal(err, texts(resp.Diagnostics))
	}
	return server, schemas.ResourceSchemas[name]
}

func apply(t *testing.T, env *acctest.Env, name string, arguments map[string]any) object {
	t.Helper()
	server, schema := configured(t, env, name)
	config := acctest.Pack(t, acctest.Value(schema.ValueType(), arguments))
	none := acctest.Pack(t, tftypes.NewValue(schema.ValueType(), nil))
	plan, err := server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: name, Config: config, PriorState: none, ProposedNewState: config,
	})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: name, Config: config, PriorState: none, PlannedState: plan.PlannedState,
		PlannedPrivate: plan.PlannedPrivate,
	})
	if err != nil || isNull(t, resp.NewState, schema) {
		t.Fatal(err, texts(resp.Diagnostics))
	}
	return object{name, resp.NewState, resp.Private}
}

func (o object) read(t *testing.T, server tfprotov6.ProviderServer) *tfprotov6.ReadResourceResponse {
	t.Helper()
	resp, err := server.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: o.name, CurrentState: o.state, Private: o.private,
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (o object) destroy(
	t *testing.T, server tfprotov6.ProviderServer, schema *tfprotov6.Schema,
) *tfprotov6.ApplyResourceChangeResponse {
	t.Helper()
	none := acctest.Pack(t, tftypes.NewValue(schema.ValueType(), nil))
	resp, err := server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: o.name, Config: none, PriorState: o.state, PlannedState: none, PlannedPrivate: o.private,
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func isNull(t *testing.T, value *tfprotov6.DynamicValue, schema *tfprotov6.Schema) bool {
	t.Helper()
	state, err := value.Unmarshal(schema.ValueType())
	if err != nil {
		t.Fatal(err)
	}
	return state.IsNull()
}

func texts(diags []*tfprotov6.Diagnostic) (text string) {
	for _, d := range diags {
		text += d.Summary + ": " + d.Detail + "\n"
	}
	return text
}
