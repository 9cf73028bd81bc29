// Package cost reports what a plan of Terraform or OpenTofu costs: the price of each server now and after the apply. It
// reads the JSON of the plan and does not depend on Terraform. All prices are kopecks per hour unless a name states
// otherwise. Whatever it does not understand is a problem of the report, so that nothing is free by mistake.
package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxPlanSize limits the JSON of a plan, in bytes.
const maxPlanSize = 1 << 30

// typePrefix is the prefix of all types of the provider, whatever its registry host is.
const typePrefix = "gpurent_"

// The resource types.
const (
	typeInstance = "gpurent_instance"
	typeFleet    = "gpurent_fleet"
	typeTemplate = "gpurent_template"
	typeAPIKey   = "gpurent_api_key"
	typeSSHKey   = "gpurent_ssh_key"
)

// Plan is the JSON of a plan.
type Plan struct {
	FormatVersion string             `json:"format_version"`
	PlannedValues json.RawMessage    `json:"planned_values"`
	Changes       []resourceChange   `json:"resource_changes"`
	Drift         []resourceChange   `json:"resource_drift"`
	Deferred      []json.RawMessage  `json:"deferred_changes"`
	Actions       []actionInvocation `json:"action_invocations"`
	// DeferredActions are only counted.
	DeferredActions []json.RawMessage `json:"deferred_action_invocations"`
	Prior           struct {
		Values struct {
			Root module `json:"root_module"`
		} `json:"values"`
	} `json:"prior_state"`
	// Complete is false if an apply leads to another plan: after -target and for deferred changes. OpenTofu omits it.
	Complete *bool `json:"complete"`
	Errored  bool  `json:"errored"`
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

// actionInvocation is an element of action_invocations.
type actionInvocation struct {
	Address       string          `json:"address"`
	Type          string          `json:"type"`
	ConfigValues  json.RawMessage `json:"config_values"`
	ConfigUnknown json.RawMessage `json:"config_unknown"`
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

// isManaged reports whether the change is of a resource. A plan need not contain the mode.
func (c resourceChange) isManaged() bool {
	return c.Mode == "managed" || c.Mode != "data" && isOurs(c.Type)
}

// label is the address of the change, with the key of a deposed object.
func (c resourceChange) label() string { return Change{Address: c.Address, Deposed: c.Deposed}.label() }

func isServer(kind string) bool { return kind == typeInstance || kind == typeFleet }

func isOurs(kind string) bool { return strings.HasPrefix(kind, typePrefix) }
