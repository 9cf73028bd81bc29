package unmanaged

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// States are the servers in a number of states.
type States struct {
	Count int             // states that were read
	IDs   map[string]bool // ids of instances and of members of fleets
}

// ShowCommand writes what Read reads.
const ShowCommand = "terraform show -json"

// Read adds the states in r: the output of "terraform show -json" or "tofu show -json", once or several times. Tainted
// and deposed objects are part of a state. A state without objects is valid. Anything else is an error, because its
// servers would count as unmanaged: an empty input, a plan, a state file.
func (s *States) Read(r io.Reader) error {
	decoder := json.NewDecoder(r)
	for documents := 0; ; documents++ {
		var document map[string]json.RawMessage
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF) && documents == 0:
			return fmt.Errorf("it is empty: did %q fail?", ShowCommand)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("it is not the output of %q: %w", ShowCommand, err)
		}
		if err := s.add(document); err != nil {
			return err
		}
	}
}

// add adds one state.
func (s *States) add(document map[string]json.RawMessage) error {
	if err := checkKind(document); err != nil {
		return err
	}
	var values struct {
		RootModule module `json:"root_module"`
	}
	if raw, ok := document["values"]; ok {
		if err := json.Unmarshal(raw, &values); err != nil {
			return fmt.Errorf("its values are not those of a state: %w", err)
		}
	}
	if s.IDs == nil {
		s.IDs = map[string]bool{}
	}
	s.Count++
	return s.addModule(values.RootModule)
}

// checkKind returns an error for a document that is not a state. Without values it can have only the properties that
// the CLIs write for a state without objects: other commands write documents with a format_version, too.
func checkKind(document map[string]json.RawMessage) error {
	var version string
	if err := json.Unmarshal(document["format_version"], &version); err != nil || !strings.HasPrefix(version, "1.") {
		return fmt.Errorf("it has no format_version 1.x: use %q", ShowCommand)
	}
	_, hasValues := document["values"]
	for name := range document {
		known := slices.Contains([]string{"format_version", "terraform_version", "timestamp", "checks"}, name)
		if !known && !hasValues {
			return fmt.Errorf("it is not a state: use %q without a plan file", ShowCommand)
		}
	}
	return nil
}

// module is a module of a state, with the modules that it calls.
type module struct {
	Resources    []object `json:"resources"`
	ChildModules []module `json:"child_modules"`
}

// object is a resource instance or a data source. A deposed one has the same address as its successor.
type object struct {
	Address string          `json:"address"`
	Mode    string          `json:"mode"` // only managed objects own servers
	Type    string          `json:"type"`
	Values  json.RawMessage `json:"values"`
}

func (s *States) addModule(m module) error {
	for _, o := range m.Resources {
		if err := s.addObject(o); err != nil {
			return fmt.Errorf("%.200q in it cannot be read: %w", o.Address, err)
		}
	}
	for _, child := range m.ChildModules {
		if err := s.addModule(child); err != nil {
			return err
		}
	}
	return nil
}

func (s *States) addObject(o object) error {
	isFleet := o.Type == "gpurent_fleet"
	if o.Mode != "managed" || o.Type != "gpurent_instance" && !isFleet {
		return nil
	}
	var values struct {
		ID        string                          `json:"id"`        // of an instance or a fleet
		Instances map[string]struct{ ID *string } `json:"instances"` // members of a fleet by slot
	}
	if err := json.Unmarshal(o.Values, &values); err != nil {
		return err
	}
	if values.ID == "" {
		return errors.New("it has no id")
	}
	if !isFleet {
		s.IDs[values.ID] = true
		return nil
	}
	for _, member := range values.Instances {
		if member.ID != nil { // else the outcome of its creation is unknown
			s.IDs[*member.ID] = true
		}
	}
	return nil
}
