package bench

import (
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// seed creates servers with count. The time of the CLI to create them grows with the square of their number, to minutes
// for 5,000. It therefore creates only one, and a fleet creates the others. In the state, seed replaces the fleet with
// copies of the one server, with the ids of the members. A refresh then corrects the other attributes.
func seed(t *testing.T, w *acctest.Workspace, settings string, servers int) {
	t.Helper()
	w.Configure(providerConfig(settings) + serversConfig(1) + fleetConfig(servers))
	w.Run(applyCommand...)
	type resource struct {
		Mode      string           `json:"mode"`
		Type      string           `json:"type"`
		Name      string           `json:"name"`
		Provider  string           `json:"provider"`
		Instances []map[string]any `json:"instances"`
	}
	var state map[string]json.RawMessage
	var resources []resource
	err := json.Unmarshal([]byte(w.Read(stateFile)), &state)
	if err := errors.Join(err, json.Unmarshal(state["resources"], &resources)); err != nil {
		t.Fatal(err)
	}
	// The resources are sorted: the fleet, and then the server.
	members := resources[0].Instances[0]["attributes"].(map[string]any)["instances"].(map[string]any)
	first := resources[1].Instances[0]
	resources[1].Instances = nil
	for slot, member := range members {
		copied, attributes := maps.Clone(first), maps.Clone(first["attributes"].(map[string]any))
		id := member.(map[string]any)["id"]
		attributes["id"] = id
		copied["attributes"], copied["identity"] = attributes, map[string]any{"id": id}
		if copied["index_key"], err = strconv.Atoi(slot); err != nil {
			t.Fatal(err)
		}
		resources[1].Instances = append(resources[1].Instances, copied)
	}
	if state["resources"], err = json.Marshal(resources[1:]); err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(stateFile, string(content))
	w.Configure(providerConfig(settings) + serversConfig(servers))
	w.Run(append([]string{"apply", "-refresh-only"}, applyCommand[1:]...)...)
}

const stateFile = "terraform.tfstate"
