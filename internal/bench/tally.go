package main

import (
	"net/http"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Tally counts requests.
type Tally struct {
	All int `json:"all"`
	// Keyed are counted by the service against the key, Public against the address.
	Keyed  int `json:"keyed"`
	Public int `json:"public"`
	// Limited are those that were answered with 429.
	Limited int `json:"limited"`
	// Endpoints counts by method and path, with {id} for what names a thing.
	Endpoints map[string]int `json:"endpoints"`
	// served counts the same without the ones answered with 429.
	served map[string]int
}

func count(requests []simulator.Request) Tally {
	t := Tally{All: len(requests), Endpoints: map[string]int{}, served: map[string]int{}}
	for _, r := range requests {
		name := endpoint(r.Method, r.Path)
		t.Endpoints[name]++
		if r.KeyID != "" {
			t.Keyed++
		} else {
			t.Public++
		}
		if r.Status == http.StatusTooManyRequests {
			t.Limited++
		} else {
			t.served[name]++
		}
	}
	return t
}

// nouns are the listings whose things are named by the path's second element.
var nouns = map[string]bool{"instances": true, "offers": true, "templates": true, "ssh-keys": true, "api-keys": true}

// endpoint is what is asked for, whichever thing it is asked of.
func endpoint(method, path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(parts) > 1 && nouns[parts[0]] {
		parts[1] = "{id}"
	}
	return method + " /" + strings.Join(parts, "/")
}
