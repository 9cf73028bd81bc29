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

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// The helpers in this file send plain HTTP requests without quirks, so that tests do not depend on the client under
// test.

// NothingLeft returns an error if a list of the API, such as "instances", is not empty.
func (e *Env) NothingLeft(list string) error { return e.Left(list, 0) }

// OnlyKeyLeft returns an error if the account has any API key but that of the provider.
func (e *Env) OnlyKeyLeft() error { return e.Left("api-keys", 1) }

// checkKeys fails the test if the provider issued an API key that is neither revoked nor in a state. Keys of logins do
// not count.
func (e *Env) checkKeys() {
	type key struct{ ID, Prefix, Name, Source string }
	List(e, "api-keys?limit=200", func(k key) {
		if k.Source == "api" && !e.known[k.ID] && !strings.HasPrefix(e.APIKey, k.Prefix) {
			e.t.Errorf("API key %s (%s) still exists", k.ID, k.Name)
		}
	})
}

// NoOwnTemplate returns an error if the account has own templates.
func (e *Env) NoOwnTemplate() error {
	if slug := e.OwnTemplate(); slug != "" {
		return fmt.Errorf("template %s still exists", slug)
	}
	return nil
}

// OwnTemplate returns the slug of a template that the account owns; empty without one.
func (e *Env) OwnTemplate() string {
	type template struct{ Slug, Owner string }
	for _, t := range Fetch[page[template]](e, "templates").Data {
		if t.Owner == "me" {
			return t.Slug
		}
	}
	return ""
}

// Left returns an error if a list of the API does not have want items.
func (e *Env) Left(list string, want int) error {
	if left := Fetch[page[json.RawMessage]](e, list).Data; len(left) != want {
		return fmt.Errorf("%s has %d items, want %d: %s", list, len(left), want, left)
	}
	return nil
}

// Offer is an offer with the fields that tests use. Prices are in kopecks per hour.
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

// CheapestOffer returns the cheapest offer with one GPU of a model for a rental type.
func (e *Env) CheapestOffer(model, rentalType string) Offer {
	e.t.Helper()
	found := e.Offers("num_gpus=1&gpu=" + model + "&type=" + rentalType)
	if len(found) == 0 {
		e.t.Fatalf("no %s offer of %s", rentalType, model)
	}
	return found[0]
}

// Offers returns the first page of the offers that match a query.
func (e *Env) Offers(query string) []Offer {
	e.t.Helper()
	return Fetch[page[Offer]](e, "offers?"+query).Data
}

// BurnOf returns a burn limit in kopecks per hour that is just enough for this many servers with one RTX 4090. They use
// the cheapest offers, and other ones while they are replaced.
func (e *Env) BurnOf(servers int64) int64 {
	e.t.Helper()
	var most int64
	for _, offer := range e.Offers("gpu=rtx_4090&num_gpus=1")[:2*servers] {
		most = max(most, offer.Price.OnDemandKopH)
	}
	return servers*most + most/2
}

// Delete sends a DELETE request, for a change outside of Terraform.
func (e *Env) Delete(path string) {
	e.t.Helper()
	e.do(http.MethodDelete, path, "")
}

// Post creates an item outside of Terraform and returns its id.
func (e *Env) Post(path, body string) (id string) {
	e.t.Helper()
	var created struct{ ID string }
	e.decode(e.do(http.MethodPost, path, body), &created)
	e.known[created.ID] = true
	return created.ID
}

// Secret issues an API key and returns its secret.
func (e *Env) Secret(body string) string {
	e.t.Helper()
	var created struct{ ID, Secret string }
	e.decode(e.do(http.MethodPost, "api-keys", body), &created)
	e.known[created.ID] = true
	return created.Secret
}

// OwnKeyID returns the id of the API key of the provider.
func (e *Env) OwnKeyID() string {
	e.t.Helper()
	return Fetch[page[struct{ ID string }]](e, "api-keys").Data[0].ID
}

// page is a page of a list.
type page[T any] struct {
	Data []T
	Next *string `json:"next_cursor"`
}

func (e *Env) do(method, path, body string) []byte {
	e.t.Helper()
	ctx := quirks.Without(context.WithoutCancel(e.t.Context()))
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
	if resp.Code >= http.StatusMultipleChoices {
		e.t.Fatalf("%s %s: status %d: %s", method, path, resp.Code, resp.Body)
	}
	return resp.Body.Bytes()
}

func (e *Env) decode(data []byte, into any) {
	e.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		e.t.Fatalf("%v in %s", err, data)
	}
}

// Fetch reads a path of the API, such as "balance".
func Fetch[T any](e *Env, path string) T {
	e.t.Helper()
	var into T
	e.decode(e.do(http.MethodGet, path, ""), &into)
	return into
}

// List calls each for all items of a list of the API, and returns their number.
func List[T any](e *Env, query string, each func(T)) (n int) {
	e.t.Helper()
	for cursor := ""; ; {
		items := Fetch[page[T]](e, query+cursor)
		for _, item := range items.Data {
			each(item)
			n++
		}
		if items.Next == nil {
			return n
		}
		cursor = "&cursor=" + url.QueryEscape(*items.Next)
	}
}

// AddSSHKey adds an SSH key to an account without one, for which a plan warns that nobody can log in.
func (e *Env) AddSSHKey() {
	e.t.Helper()
	if e.Left("ssh-keys", 0) != nil {
		return
	}
	e.Post("ssh-keys", `{"name":"laptop","public_key":"`+rentaltest.PublicKey+`"}`)
}
