// Package cost reports what a plan of Terraform or OpenTofu costs: the price of each server now and after the apply. It
// reads the JSON of the plan and does not depend on Terraform. All prices are kopecks per hour unless a name states
// otherwise. Whatever it does not understand is a problem of the report, so that nothing is free by mistake.
package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxPlanSize limits the JSON of a plan, in bytes.
const maxPlanSize = 1 << 30

// The types of resources that are billed.
const (
	typeInstance = "gpurent_instance"
	typeFleet    = "gpurent_fleet"
)

// Plan is the JSON of a plan.
type Plan struct {
	FormatVersion string            `json:"format_version"`
	PlannedValues json.RawMessage   `json:"planned_values"`
	Changes       []resourceChange  `json:"resource_changes"`
	Deferred      []json.RawMessage `json:"deferred_changes"`
	Prior         struct {
		Values struct {
			Root module `json:"root_module"`
		} `json:"values"`
	} `json:"prior_state"`
	Errored bool `json:"errored"`
}

// resourceChange is an element of resource_changes.
type resourceChange struct {
	Address string `json:"address"`
	Mode    string `json:"mode"`
	Type    string `json:"type"`
	Deposed string `json:"deposed"`
	Change  struct {
		Actions         []string        `json:"actions"`
		Before          json.RawMessage `json:"before"`
		After           json.RawMessage `json:"after"`
		AfterUnknown    json.RawMessage `json:"after_unknown"`
		AfterSensitive  json.RawMessage `json:"after_sensitive"`
		BeforeSensitive json.RawMessage `json:"before_sensitive"`
	} `json:"change"`
}

// module is a module of the prior state.
type module struct {
	Resources []struct {
		Address         string          `json:"address"`
		Mode            string          `json:"mode"`
		Type            string          `json:"type"`
		Deposed         string          `json:"deposed_key"`
		Values          json.RawMessage `json:"values"`
		SensitiveValues json.RawMessage `json:"sensitive_values"`
	} `json:"resources"`
	Children []module `json:"child_modules"`
}

const howToMake = "Make the JSON of a saved plan with: terraform show -json PLAN"

// Read reads the JSON of a plan.
func Read(r io.Reader) (Plan, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPlanSize+1))
	switch {
	case err != nil:
		return Plan{}, err
	case len(data) > maxPlanSize:
		return Plan{}, errors.New("the plan is larger than 1 GB")
	}
	var plan Plan
	if err := json.Unmarshal(data, &plan); err != nil {
		return Plan{}, fmt.Errorf("this is not the JSON of a plan: %w. %s", err, howToMake)
	}
	if plan.FormatVersion == "" || plan.PlannedValues == nil && plan.Changes == nil {
		return Plan{}, errors.New("this JSON is not a plan. " + howToMake)
	}
	return plan, nil
}

// isServer reports whether the change is of an instance or a fleet. A plan need not contain the mode.
func (c resourceChange) isServer() bool {
	return c.Mode != "data" && (c.Type == typeInstance || c.Type == typeFleet)
}

// label is the address of the change, with the key of a deposed object.
func (c resourceChange) label() string { return Server{Address: c.Address, Deposed: c.Deposed}.label() }
