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
	Update        Action = "update"             // in place; no server starts, stops or is rented
	Start         Action = "start"
	Stop          Action = "stop"
	Restart       Action = "restart" // only of an action
	Wait          Action = "wait"    // for a server that changes its status
	Scale         Action = "scale"   // a fleet: see Server.SizeBefore and SizeAfter
	Repair        Action = "repair"  // a fleet: lost, failed and stopped members
	Roll          Action = "replace_members"
	Destroy       Action = "destroy"
	Forget        Action = "forget" // it leaves the state and is billed further
	Unknown       Action = "unknown"
)

// Report is what a plan costs. Its JSON is the stable format of the command.
type Report struct {
	// FormatVersion is "1.0". Readers ignore fields and values that they do not know, and refuse another major version.
	FormatVersion string `json:"format_version"`
	Totals        Totals `json:"totals"`
	// Servers are all instances and fleets of the plan, also unchanged ones, in its order. A plan with -target or
	// -refresh-only does not contain the others: they follow as unchanged.
	Servers []Server `json:"servers"`
	// Others are the changed resources of the provider that cost nothing, and the invoked actions.
	Others []Change `json:"others"`
	// OtherProviders is the number of changed resources of other providers.
	OtherProviders int `json:"other_providers"`
	// Drift are the servers that were changed outside Terraform since the last apply.
	Drift []Drift `json:"drift"`
	// Problems are the parts of the plan that the command does not understand or that have no complete price. With any,
	// a limit is not kept and the guard refuses the plan.
	Problems []Problem `json:"problems"`
	// Notes concern the whole plan.
	Notes []string `json:"notes"`
	// Account is null without --prices, and if the balance cannot be read.
	Account *Account `json:"account"`
	// Limits are the results of --max-burn and --max-added.
	Limits []Limit `json:"limits"`
	// Differences are the result of --reviewed: what the review did not show. Null without --reviewed.
	Differences []Difference `json:"differences"`

	// referable are the addresses of the templates and SSH keys of the state, by id.
	referable map[string]string
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

// Change is what a plan does with one resource.
type Change struct {
	Address string `json:"address"`
	// Deposed is the key of an object that a replacement left behind; omitted for others.
	Deposed string `json:"deposed,omitempty"`
	Type    string `json:"type"`
	Action  Action `json:"action"`
	// Arguments are what a review must show, by name: omitted if nothing is created or changed. Null values are omitted,
	// at any depth. "(sensitive)" and "(known after apply)" replace such values.
	Arguments map[string]any `json:"arguments,omitempty"`
	// ChangedArguments are the names of the Arguments of a fleet that an update changes.
	ChangedArguments []string `json:"changed_arguments,omitempty"`
	Notes            []string `json:"notes,omitempty"`
}

// Server is an instance or a fleet. All prices are kopecks per hour.
type Server struct {
	Change
	// BeforeKopH is what it costs now, without the disks of stopped members of a fleet. Null if the plan does not contain
	// the price.
	BeforeKopH *int64 `json:"before_kop_h"`
	// Price is what it costs after the apply.
	Price
	// MaxPriceKopH is the price cap of each server after the apply; null for none.
	MaxPriceKopH *int64 `json:"max_price_kop_h"`
	// MaxKopH is the highest price that the caps of the arguments allow for the whole resource; null for none.
	MaxKopH *int64 `json:"max_kop_h"`
	// RaisesCap: an update raises or removes a cap.
	RaisesCap bool `json:"raises_cap"`
	// SizeBefore and SizeAfter are the sizes of an updated or new fleet; omitted if unknown, and for an instance.
	SizeBefore *int64 `json:"size_before,omitempty"`
	SizeAfter  *int64 `json:"size_after,omitempty"`
}

// Drift is a server that was changed outside Terraform.
type Drift struct {
	Address string `json:"address"`
	// Gone: it no longer exists.
	Gone       bool   `json:"gone"`
	BeforeKopH *int64 `json:"before_kop_h"` // as the state had it
	AfterKopH  *int64 `json:"after_kop_h"`  // as it was read
}

// Problem is something that the report cannot contain completely. Address is empty for the whole plan.
type Problem struct {
	Address string `json:"address"`
	Message string `json:"message"`
}

// Account is the account of the API key.
type Account struct {
	AvailableKop   int64 `json:"available_kop"`    // kopecks
	CreditLimitKop int64 `json:"credit_limit_kop"` // kopecks
	BurnKopH       int64 `json:"burn_kop_h"`       // now, of all servers of the account
	// BurnAfterKopH is BurnKopH with the change of the plan. Null if a price cannot be determined.
	BurnAfterKopH *int64 `json:"burn_after_kop_h"`
	// HoursAfter is how many whole hours the available amount and the credit last then. Null if that is unlimited or
	// cannot be determined.
	HoursAfter *int64 `json:"hours_after"`
}

// label is the address, with the key of a deposed object.
func (c Change) label() string {
	if c.Deposed != "" {
		return c.Address + " (deposed " + c.Deposed + ")"
	}
	return c.Address
}

func (c *Change) note(format string, arguments ...any) {
	if text := fmt.Sprintf(format, arguments...); !slices.Contains(c.Notes, text) {
		c.Notes = append(c.Notes, text)
	}
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
