package acctest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// What follows speaks plain HTTP to the service: what a test checks must not
// depend on the client it checks, nor on the quirks that the client meets.

// NothingLeft is an error when a listing of the service, such as "instances",
// is not empty: what a test created, its destruction must remove.
func (e *Env) NothingLeft(noun string) error { return e.Left(noun, 0) }

// OnlyKeyLeft is an error when there is any API key but the provider's own.
func (e *Env) OnlyKeyLeft() error { return e.Left("api-keys", 1) }

// noKeyLeft fails the test when it ends with an API key that nobody knows of: whatever
// it is about, the provider must revoke what it issued, or have it in a state. The
// key of a login stays until the logout.
func (e *Env) noKeyLeft() {
	type key struct{ ID, Prefix, Name, Source string }
	for _, k := range Fetch[page[key]](e, "api-keys").Data {
		if k.Source == "api" && !e.known[k.ID] && !strings.HasPrefix(e.APIKey, k.Prefix) {
			e.t.Errorf("the API key %s (%s) is left", k.ID, k.Name)
		}
	}
}

// NoneOwned is an error when the account has own templates.
func (e *Env) NoneOwned() error {
	if slug := e.OwnTemplate(); slug != "" {
		return fmt.Errorf("template %s is left", slug)
	}
	return nil
}

// OwnTemplate is the slug of an own template of the account; empty when it has none.
func (e *Env) OwnTemplate() string {
	type template struct{ Slug, Owner string }
	for _, t := range Fetch[page[template]](e, "templates").Data {
		if t.Owner == "me" {
			return t.Slug
		}
	}
	return ""
}

// Left is an error when a listing of the service does not have want items.
func (e *Env) Left(noun string, want int) error {
	if left := Fetch[page[json.RawMessage]](e, noun).Data; len(left) != want {
		return fmt.Errorf("%d of %s are left, want %d: %s", len(left), noun, want, left)
	}
	return nil
}

// Offer is what tests need to know of an offer.
type Offer struct {
	ID  string `json:"id"`
	GPU struct {
		Slug  string `json:"slug"`
		Count int64  `json:"count"`
	} `json:"gpu"`
	Price struct {
		OnDemandKopH      int64  `json:"on_demand_kop_h"`
		InterruptibleKopH *int64 `json:"interruptible_kop_h"`
	} `json:"price"`
}

// CheapestOffer is the cheapest one-GPU offer of a model for a rental type.
func (e *Env) CheapestOffer(model, rentalType string) Offer {
	e.t.Helper()
	found := e.Offers("num_gpus=1&gpu=" + model + "&type=" + rentalType)
	if len(found) == 0 {
		e.t.Fatalf("no %s offer of %s", rentalType, model)
	}
	return found[0]
}

// Offers are the first page of a listing of offers.
func (e *Env) Offers(query string) []Offer {
	e.t.Helper()
	return Fetch[page[Offer]](e, "offers?"+query).Data
}

// Delete removes something behind Terraform's back, as a person in the console
// would.
func (e *Env) Delete(path string) {
	e.t.Helper()
	e.do(http.MethodDelete, path, "")
}

// Post creates something behind Terraform's back and returns its id.
func (e *Env) Post(path, body string) (id string) {
	e.t.Helper()
	var created struct{ ID string }
	e.decode(e.do(http.MethodPost, path, body), &created)
	e.known[created.ID] = true
	return created.ID
}

// LoseAnswer cuts the connection of the next request to create something at the
// path, after the work is done.
func (e *Env) LoseAnswer(path string) {
	e.t.Helper()
	if err := e.AddFault(simulator.Fault{Method: http.MethodPost, Path: path, Drop: simulator.DropAfter, Times: 1}); err != nil {
		e.t.Fatal(err)
	}
}

// Secret issues an API key and returns its secret.
func (e *Env) Secret(body string) string {
	e.t.Helper()
	var created struct{ ID, Secret string }
	e.decode(e.do(http.MethodPost, "api-keys", body), &created)
	e.known[created.ID] = true
	return created.Secret
}

// OwnKeyID is the id of the key that the provider uses.
func (e *Env) OwnKeyID() string {
	e.t.Helper()
	return Fetch[page[struct{ ID string }]](e, "api-keys").Data[0].ID
}

// page is one of a listing.
type page[T any] struct {
	Data []T
	Next *string `json:"next_cursor"`
}

func (e *Env) do(method, path, body string) []byte {
	e.t.Helper()
	ctx := simulator.WithoutQuirks(context.WithoutCancel(e.t.Context()))
	req := httptest.NewRequestWithContext(ctx, method, e.BaseURL+"/"+path, strings.NewReader(body))
	req.RemoteAddr = "127.0.0.1:1"
	req.Header.Set("Authorization", "Bearer "+e.APIKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost && path == "instances" {
		req.Header.Set("Idempotency-Key", rand.Text())
	}
	resp := httptest.NewRecorder()
	e.Handler().ServeHTTP(resp, req)
	if answer := resp.Body.Bytes(); resp.Code < http.StatusMultipleChoices {
		return answer
	}
	e.t.Fatalf("%s %s: status %d: %s", method, path, resp.Code, resp.Body)
	return nil
}

func (e *Env) decode(data []byte, into any) {
	e.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		e.t.Fatalf("%v in %s", err, data)
	}
}

// Fetch reads one thing of the service, such as "balance".
func Fetch[T any](e *Env, path string) T {
	e.t.Helper()
	var into T
	e.decode(e.do(http.MethodGet, path, ""), &into)
	return into
}

// List reads a listing of the service to its end, and returns how many it has.
func List[T any](e *Env, query string, each func(T)) (n int) {
	e.t.Helper()
	for cursor := ""; ; {
		got := Fetch[page[T]](e, query+cursor)
		for _, item := range got.Data {
			each(item)
			n++
		}
		if got.Next == nil {
			return n
		}
		cursor = "&cursor=" + url.QueryEscape(*got.Next)
	}
}
