//go:build linux

package crash

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// object is an object in the API or in the state, of any type.
type object struct {
	ID, Slug, Name, Status, Owner string
	Template                      templateRef
	CreatedAt                     time.Time         `json:"created_at"`
	ExpiresAt                     time.Time         `json:"expires_at"`
	Instances                     map[string]object // members of a fleet, by slot
	Tainted                       bool              `json:"-"`
}

// templateRef is the template of an instance: an object in the API, a slug in the state.
type templateRef struct{ Slug string }

// UnmarshalJSON reads either form.
func (r *templateRef) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &r.Slug) == nil {
		return nil
	}
	type object templateRef
	return json.Unmarshal(data, (*object)(r))
}

// account is everything in the account.
type account struct {
	all, live                   []object // instances: all that ever existed, and the existing ones
	sshKeys, apiKeys, templates []object // without the templates of the catalog
}

// readAccount reads the account from the API.
func readAccount(env *acctest.Env) account {
	a := account{
		all: list(env, "instances?status=all&limit=200"), live: list(env, "instances?limit=200"),
		sshKeys: list(env, "ssh-keys?limit=200"), apiKeys: list(env, "api-keys?limit=200"),
	}
	for _, template := range list(env, "templates?limit=200") {
		if template.Owner == "me" {
			template.ID = template.Slug
			a.templates = append(a.templates, template)
		}
	}
	return a
}

func list(env *acctest.Env, path string) (all []object) {
	acctest.List(env, path, func(one object) { all = append(all, one) })
	return all
}

// saved returns the objects of a resource type in the state.
func saved(w *acctest.Workspace, resourceType string) (all []object) {
	for _, one := range acctest.SavedIn[object](w, resourceType) {
		one.Attributes.Tainted = one.Tainted
		all = append(all, one.Attributes)
	}
	return all
}

// without returns the objects whose ids are not among the others.
func without(objects, others []object) []object {
	return slices.DeleteFunc(slices.Clone(objects), func(one object) bool {
		return slices.ContainsFunc(others, func(other object) bool { return other.ID == one.ID })
	})
}
