package tfkit

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// keyList returns a list of SSH keys.
type keyList []any

func (l keyList) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": []any(l), "next_cursor": nil})
}

// After a lost response, the message names the objects of others that match, even after an interruption, and not an
// object that this process has created. It has an import block only if there is no choice.
func TestAfterUnknownCreation(t *testing.T) {
	lost := &rental.Error{Message: "lost", OutcomeUnknown: true}
	key := func(id string) any { return map[string]any{"id": id, "name": "laptop"} }
	for name, test := range map[string]struct {
		err       error
		keys      keyList
		want, not string
	}{
		"refused":            {&rental.Error{Status: 409}, keyList{key("other")}, "", "other"},
		"none":               {lost, keyList{key("own")}, "No list contains", "own"},
		"one of another run": {lost, keyList{key("own"), key("other")}, `id = "other"`, "own"},
		"two":                {lost, keyList{key("one"), key("two")}, "one, two", "import {"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := rental.New(rental.Config{
				BaseURL: "https://rent.example/api/v1", APIKey: rentaltest.Key, Transport: test.keys,
			})
			if err != nil {
				t.Fatal(err)
			}
			keys := rental.NewCache(client).SSHKeys
			keys.Created(rental.SSHKey{ID: "own"})
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			all := func(rental.SSHKey) bool { return true }
			text := string(AfterUnknownCreation(ctx, test.err, keys, all, ImportOrDelete("gpurent_ssh_key")))
			if !strings.Contains(text, test.want) || strings.Contains(text, test.not) || test.want == "" && text != "" {
				t.Error(text)
			}
		})
	}
}
