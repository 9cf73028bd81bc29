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

// metaOf returns a provider with an API key, and the transport of its client, which responds to GET /me.
func metaOf(t *testing.T, key string, me rentaltest.Response) (*Meta, *rentaltest.Transport) {
	t.Helper()
	api := new(rentaltest.Transport)
	api.Script("GET /me", me)
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: key, MaxRetries: -1, Transport: api,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Meta{Client: client}, api
}

// user is the response to GET /me for an account.
func user(id string) rentaltest.Response {
	return rentaltest.Respond(http.StatusOK, map[string]any{"id": id, "name": "user"})
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
	one, two, forbidden, down := user("usr_1"), user("usr_2"), rentaltest.Fail(403), rentaltest.Fail(500)
	for name, test := range map[string]struct {
		created rentaltest.Response // of GET /me at the creation
		found   string              // a key that has found the object since; empty for none
		key     string              // of the run
		now     rentaltest.Response // in the run
		want    string              // in the error; empty for the same account
	}{
		"the same key":                 {one, "", first, down, ""},
		"the same key, both times 403": {forbidden, "", first, forbidden, ""},
		"another address":              {one, "", first, one, "https://other.example"},
		"another key":                  {one, "", second, one, ""},
		"a key of another account":     {one, "", second, two, "to the account usr_2"},
		"another key, 403 now":         {one, "", second, forbidden, "and lacks the scope user:read"},
		"another key, 403 then":        {forbidden, "", second, one, "the last one lacked the scope"},
		"another key, no response":     {one, "", second, down, "belongs to this account"},
		"a key that has found it":      {one, second, second, forbidden, ""},
		"the key from before that":     {one, second, first, forbidden, "and lacks the scope user:read"},
	} {
		t.Run(name, func(t *testing.T) {
			stored, diags := private{}, diag.Diagnostics{}
			meta, _ := metaOf(t, first, test.created)
			diags.Append(meta.SetCreated(t.Context(), stored, meta.NewObject(t.Context()))...)
			if test.found != "" {
				finder, _ := metaOf(t, test.found, test.now)
				finder.CompleteObject(t.Context(), stored, stored, &diags)
			}
			object := GetObject(t.Context(), stored, &diags)
			if name == "another address" {
				object.BaseURL = "https://other.example/api/v1"
			}
			meta, api := metaOf(t, test.key, test.now)
			same := meta.CheckOrigin(t.Context(), object, "it", &diags)
			text := ""
			if diags.HasError() {
				text = diags[0].Summary() + diags[0].Detail()
			}
			if same != (test.want == "") || same != (text == "") || !strings.Contains(text, test.want) {
				t.Errorf("the same account: %t: %s", same, text)
			}
			known, requests := test.key == first && test.found == "" || test.key == test.found, api.Sent("")
			if known != (len(requests) == 0) {
				t.Errorf("sent %v", requests)
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
		meta, api := metaOf(t, rentaltest.Key, user("usr_1"))
		for _, want := range []int{1, 1, 2} {
			if _, err := meta.Account(t.Context()); err != nil || len(api.Sent("")) != want {
				t.Errorf("sent %v, want %d requests; %v", api.Sent(""), want, err)
			}
			time.Sleep(accountAge / 2)
		}
	})
}
