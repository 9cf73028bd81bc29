package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var refreshStateCommand = []string{"apply", "-refresh-only", "-auto-approve", "-input=false", "-no-color"}

// seed creates the servers of a scenario. The CLI creates only the first one: its time to create servers grows with
// the square of their number, to minutes for 5,000. seed creates the others with the API and copies them into the
// state. A refresh then corrects their attributes.
func (w *workspace) seed(ctx context.Context, settings string, offers []string) error {
	if err := w.configure(serversConfig(settings, serverName, offers[:1])); err != nil {
		return err
	}
	if _, err := w.run(ctx, programProvider, applyCommand...); err != nil {
		return err
	}
	var ids []string
	for i, offer := range offers[1:] {
		id, err := createServer(ctx, w.service, fmt.Sprintf("%s-%d", serverName, i+1), offer)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := w.copyInState(ids, offers[1:]); err != nil {
		return err
	}
	if err := w.configure(serversConfig(settings, serverName, offers)); err != nil {
		return err
	}
	_, err := w.run(ctx, programProvider, refreshStateCommand...)
	return err
}

// copyInState adds servers to the state, as copies of the only one there.
func (w *workspace) copyInState(ids, offers []string) error {
	file := filepath.Join(w.folder, "terraform.tfstate")
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var state map[string]any
	if err := json.Unmarshal(content, &state); err != nil {
		return err
	}
	resources, _ := state["resources"].([]any)
	if len(resources) != 1 {
		return errors.New("the state does not have exactly one resource")
	}
	resource, _ := resources[0].(map[string]any)
	instances, _ := resource["instances"].([]any)
	if len(instances) != 1 {
		return errors.New("the state does not have exactly one server")
	}
	first, _ := instances[0].(map[string]any)
	for i, id := range ids {
		attributes, _ := first["attributes"].(map[string]any)
		attributes = maps.Clone(attributes)
		attributes["id"], attributes["offer_id"] = id, offers[i]
		attributes["name"] = fmt.Sprintf("%s-%d", serverName, i+1)
		instance := maps.Clone(first)
		instance["index_key"], instance["attributes"] = i+1, attributes
		if first["identity"] != nil {
			instance["identity"] = map[string]string{"id": id}
		}
		instances = append(instances, instance)
	}
	resource["instances"] = instances
	if content, err = json.Marshal(state); err != nil {
		return err
	}
	return os.WriteFile(file, content, fileMode)
}

func createServer(ctx context.Context, service *simulator.Server, name, offer string) (id string, err error) {
	body := fmt.Sprintf(`{"name":%q,"offer_id":%q,"template":"ubuntu","disk_gb":20}`, name, offer)
	var created struct{ ID string }
	err = call(ctx, service, http.MethodPost, "/instances", body, &created)
	return created.ID, err
}
