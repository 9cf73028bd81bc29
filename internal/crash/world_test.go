//go:build linux

package crash

import (
	"encoding/json"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// thing is one of anything that the service has or the state holds.
type thing struct {
	ID, Slug, Name, Status, Owner string
	Template                      templateRef
	CreatedAt                     time.Time `json:"created_at"`
	ExpiresAt                     time.Time `json:"expires_at"`
	Tainted                       bool      `json:"-"`
}

// templateRef is the template of an instance: an object in the API, a slug in a
// state.
type templateRef struct{ Slug string }

// UnmarshalJSON takes either.
func (r *templateRef) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &r.Slug) == nil {
		return nil
	}
	type object templateRef
	return json.Unmarshal(data, (*object)(r))
}

// world is what the service has.
type world struct {
	ever, live               []thing // instances
	keys, apiKeys, templates []thing // own templates only
}

// look asks the service for all of them.
func look(env *acctest.Env) world {
	w := world{
		ever: list(env, "instances?status=all&limit=200"), live: list(env, "instances?limit=200"),
		keys: list(env, "ssh-keys?limit=200"), apiKeys: list(env, "api-keys?limit=200"),
	}
	for _, template := range list(env, "templates?limit=200") {
		if template.Owner == "me" {
			template.ID = template.Slug
			w.templates = append(w.templates, template)
		}
	}
	return w
}

func list(env *acctest.Env, what string) (all []thing) {
	acctest.List(env, what, func(one thing) { all = append(all, one) })
	return all
}

// saved returns what a state holds of a type.
func saved(w *acctest.Workspace, kind string) (all []thing) {
	for _, one := range acctest.SavedIn[thing](w, kind) {
		one.Attributes.Tainted = one.Tainted
		all = append(all, one.Attributes)
	}
	return all
}

// without returns the things whose ids others have not.
func without(things, others []thing) []thing {
	known := map[string]bool{}
	for _, other := range others {
		known[other.ID] = true
	}
	var left []thing
	for _, one := range things {
		if !known[one.ID] {
			left = append(left, one)
		}
	}
	return left
}
