//go:build linux

package crash

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// thing is one of anything that the service has or the state holds.
type thing struct {
	ID, Slug, Name, Status, Owner string
	Template                      templateRef
	Tainted                       bool `json:"-"`
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

// look asks over plain HTTP: what the client reads must not be checked by the
// client.
func look(t *testing.T, env *acctest.Env) world {
	t.Helper()
	w := world{
		ever: list(t, env, "instances?status=all&limit=200"), live: list(t, env, "instances?limit=200"),
		keys: list(t, env, "ssh-keys?limit=200"), apiKeys: list(t, env, "api-keys?limit=200"),
	}
	for _, template := range list(t, env, "templates?limit=200") {
		if template.Owner == "me" {
			template.ID = template.Slug
			w.templates = append(w.templates, template)
		}
	}
	return w
}

func list(t *testing.T, env *acctest.Env, what string) []thing {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, env.BaseURL+"/"+what, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+env.APIKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct {
		Data       []thing
		NextCursor *string `json:"next_cursor"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil || resp.StatusCode != http.StatusOK || page.NextCursor != nil {
		t.Fatalf("GET %s: status %d, %v, next page %v", what, resp.StatusCode, err, page.NextCursor)
	}
	return page.Data
}

// saved returns what a state holds of a type. A state that was never written
// holds nothing.
func saved(t *testing.T, w *acctest.Workspace, kind string) []thing {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(w.Folder(), "terraform.tfstate"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if len(content) == 0 { // the lock alone makes an empty file
		return nil
	}
	var state struct {
		Resources []struct {
			Mode, Type string
			Instances  []struct {
				Status     string // "tainted", or empty
				Attributes thing
			}
		}
	}
	if err := json.Unmarshal(content, &state); err != nil {
		t.Fatalf("%v in the state:\n%s", err, content)
	}
	var found []thing
	for _, r := range state.Resources {
		for _, instance := range r.Instances {
			if r.Mode == "managed" && r.Type == kind {
				instance.Attributes.Tainted = instance.Status == "tainted"
				found = append(found, instance.Attributes)
			}
		}
	}
	return found
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
