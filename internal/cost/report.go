package cost

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

// formatVersion is the version of the JSON. A new minor version only adds fields and values.
const formatVersion = "1.0"

// Action is what a plan does with a resource.
type Action string

// The values of Action.
const (
	Unchanged     Action = "none"
	Create        Action = "create"
	Replace       Action = "replace"
	ReplaceForget Action = "replace_and_forget" // the old object leaves the state and is billed further
	Update        Action = "update"             // in place; of a fleet, see Server.Members
	Start         Action = "start"
	Stop          Action = "stop"
	Wait          Action = "wait" // for a server that changes its status
	Destroy       Action = "destroy"
	Forget        Action = "forget" // it leaves the state and is billed further
	Unknown       Action = "unknown"
)

// Report is what a plan costs. Its JSON is the stable format of the command.
type Report struct {
	// FormatVersion is "1.0". Readers ignore unknown fields and values, and refuse another major version.
	FormatVersion string `json:"format_version"`
	Totals        Totals `json:"totals"`
	// Servers are all instances and fleets of the plan, also unchanged ones, in its order. A plan with -target or
	// -refresh-only does not contain the others: they follow as unchanged.
	Servers []Server `json:"servers"`
	// Problems are the parts of the plan that the command does not understand or that have no complete price. With any,
	// a limit is not kept.
	Problems []Problem `json:"problems"`
	// Limits are the results of --max-burn and --max-added.
	Limits []Limit `json:"limits"`
}

// Totals are the sums over all servers of the plan, in kopecks. A price that cannot be determined is not included.
type Totals struct {
	BeforeKopH int64 `json:"before_kop_h"` // kopecks per hour
	AfterKopH  int64 `json:"after_kop_h"`  // kopecks per hour
	// ChangeKopH is AfterKopH less BeforeKopH.
	ChangeKopH     int64 `json:"change_kop_h"`
	BeforeKopMonth int64 `json:"before_kop_month"` // kopecks per month of 730 hours
	AfterKopMonth  int64 `json:"after_kop_month"`
	// Basis is the least certain Basis of the prices after the apply, without those that cannot be determined.
	Basis Basis `json:"basis"`
	// DiskExcluded: a disk is not included for at least one server: see Server.DiskExcluded.
	DiskExcluded bool `json:"disk_excluded"`
	// Undetermined are the addresses whose price before or after the apply cannot be determined.
	Undetermined []string `json:"undetermined"`
}

// Server is an instance or a fleet. All prices are kopecks per hour.
type Server struct {
	Address string `json:"address"`
	// Deposed is the key of an object that a replacement left behind; omitted for others.
	Deposed string `json:"deposed,omitempty"`
	Type    string `json:"type"`
	Action  Action `json:"action"`
	// Members are the numbers of members of an updated fleet that an action changes; omitted for none.
	Members map[Action]int `json:"members,omitempty"`
	// BeforeKopH is what it costs now, without the disks of stopped members of a fleet. Null if the plan does not contain
	// the price.
	BeforeKopH *int64 `json:"before_kop_h"`
	// Price is what it costs after the apply.
	Price
	Notes []string `json:"notes,omitempty"`
}

// Problem is something that the report cannot contain completely. Address is empty for the whole plan.
type Problem struct {
	Address string `json:"address"`
	Message string `json:"message"`
}

// label is the address, with the key of a deposed object.
func (s Server) label() string {
	if s.Deposed != "" {
		return s.Address + " (deposed " + s.Deposed + ")"
	}
	return s.Address
}

func (s *Server) note(format string, arguments ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, arguments...))
}

// total sets the totals.
func (r *Report) total() {
	before, after := knownPrice(0), knownPrice(0)
	t := Totals{Undetermined: []string{}}
	for _, s := range r.Servers {
		nextBefore, nextAfter := before, after
		if s.BeforeKopH != nil {
			nextBefore = before.plus(knownPrice(*s.BeforeKopH))
		}
		if s.KopH != nil {
			nextAfter = after.plus(s.Price)
		}
		if s.BeforeKopH == nil || s.KopH == nil {
			t.Undetermined = append(t.Undetermined, s.label())
		}
		if nextBefore.KopH == nil || nextAfter.KopH == nil {
			r.addProblem(s.label(), "The sum with its price is too large.")
			t.Undetermined = append(t.Undetermined, s.label())
			continue
		}
		before, after = nextBefore, nextAfter
	}
	t.BeforeKopH, t.AfterKopH = *before.KopH, *after.KopH
	t.ChangeKopH = t.AfterKopH - t.BeforeKopH
	t.BeforeKopMonth, t.AfterKopMonth = t.BeforeKopH*rubles.HoursPerMonth, t.AfterKopH*rubles.HoursPerMonth
	t.Basis, t.DiskExcluded = after.Basis, after.DiskExcluded
	t.Undetermined = slices.Compact(t.Undetermined)
	r.Totals = t
}

func (r *Report) addProblem(address, format string, arguments ...any) {
	problem := Problem{address, fmt.Sprintf(format, arguments...)}
	if !slices.Contains(r.Problems, problem) {
		r.Problems = append(r.Problems, problem)
	}
}

// JSON returns the report in its stable format.
func (r Report) JSON() (string, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return string(data) + "\n", err
}

// changedServers returns the servers that the plan changes.
func (r Report) changedServers() (changed []Server) {
	for _, s := range r.Servers {
		if s.Action != Unchanged {
			changed = append(changed, s)
		}
	}
	return changed
}

// sortPrice is the higher one of the prices before and after. A missing one is higher than all others.
func (s Server) sortPrice() int64 {
	if s.KopH == nil || s.BeforeKopH == nil {
		return maxKopH + 1
	}
	return max(*s.KopH, *s.BeforeKopH)
}
