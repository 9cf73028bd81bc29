package tfkit

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// me is an API that responds to GET /me, with 200 and an account or with another status.
type me struct {
	status   int
	account  string
	requests int
}

// meta returns a provider with an API key.
func (m *me) meta(t *testing.T, key string) *Meta {
	t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: key, MaxRetries: -1,
		Transport: transport(func(req *http.Request) (*http.Response, error) {
			m.requests++
			if m.status != http.StatusOK {
				return rentaltest.JSONResponse(req, m.status, rentaltest.Failure(m.status))
			}
			return rentaltest.JSONResponse(req, m.status, map[string]any{"id": m.account, "name": "user"})
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Meta{Client: client}
}

// private is the private state of an object.
type private map[string][]byte

func (p private) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) { return p[key], nil }

func (p private) SetKey(_ context.Context, key string, value []byte) diag.Diagnostics {
	p[key] = value
	return nil
}

// An object that is not found is in the account of the run if the run has the API key with which the object was created
// or found last, or if both keys may read the same account. The same key needs no request.
func TestCheckOrigin(t *testing.T) {
	const first, second = "gpr_first", "gpr_second"
	for name, test := range map[string]struct {
		created me     // at the creation
		found   string // a key that has found the object since; empty for none
		key     string // of the run
		now     me     // in the run
		want    string // in the error; empty for the same account
	}{
		"the same key":                 {me{200, "usr_1", 0}, "", first, me{500, "", 0}, ""},
		"the same key, both times 403": {me{403, "", 0}, "", first, me{403, "", 0}, ""},
		"another address":              {me{200, "usr_1", 0}, "", first, me{200, "usr_1", 0}, "https://other.example"},
		"another key":                  {me{200, "usr_1", 0}, "", second, me{200, "usr_1", 0}, ""},
		"a key of another account":     {me{200, "usr_1", 0}, "", second, me{200, "usr_2", 0}, "to the account usr_2"},
		"another key, 403 now":         {me{200, "usr_1", 0}, "", second, me{403, "", 0}, "and lacks the scope user:read"},
		"another key, 403 then":        {me{403, "", 0}, "", second, me{200, "usr_1", 0}, "the last one lacked the scope"},
		"another key, no response":     {me{200, "usr_1", 0}, "", second, me{500, "", 0}, "belongs to this account"},
		"a key that has found it":      {me{200, "usr_1", 0}, second, second, me{403, "", 0}, ""},
		"the key from before that":     {me{200, "usr_1", 0}, second, first, me{403, "", 0}, "and lacks the scope user:read"},
	} {
		t.Run(name, func(t *testing.T) {
			stored, diags := private{}, diag.Diagnostics{}
			meta := test.created.meta(t, first)
			diags.Append(meta.SetCreated(t.Context(), stored, meta.NewObject(t.Context()))...)
			if test.found != "" {
				test.now.meta(t, test.found).CompleteObject(t.Context(), stored, stored, &diags)
			}
			test.now.requests = 0
			object := GetObject(t.Context(), stored, &diags)
			if name == "another address" {
				object.BaseURL = "https://other.example/api/v1"
			}
			same := test.now.meta(t, test.key).CheckOrigin(t.Context(), object, "it", &diags)
			text := ""
			if diags.HasError() {
				text = diags[0].Summary() + diags[0].Detail()
			}
			if same != (test.want == "") || same != (text == "") || !strings.Contains(text, test.want) {
				t.Errorf("the same account: %t: %s", same, text)
			}
			if known := test.key == first && test.found == "" || test.key == test.found; known != (test.now.requests == 0) {
				t.Errorf("%d requests", test.now.requests)
			}
			if strings.Contains(string(stored[PrivateObject]), "gpr_") {
				t.Errorf("the private state has the key: %s", stored[PrivateObject])
			}
		})
	}
}

// Plans share one request for a minute, and notice a change of the account afterwards.
func TestMeta_Account(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &me{200, "usr_1", 0}
		meta := api.meta(t, key)
		for _, want := range []int{1, 1, 2} {
			if _, err := meta.Account(t.Context()); err != nil || api.requests != want {
				t.Errorf("%d requests, want %d; %v", api.requests, want, err)
			}
			time.Sleep(accountAge / 2)
		}
	})
}
