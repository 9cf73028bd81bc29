package cost

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Difference is a change that a review did not show.
type Difference struct {
	Address string `json:"address"`
	Reason  string `json:"reason"`
}

// Compare returns what the planned report contains and the reviewed one did not: rentals, replacements, destroyed and
// forgotten resources, new keys, raised price caps, and whatever has no price cap or is not understood. Starts, stops,
// repairs and other updates within the caps need no review.
func Compare(reviewed, planned Report) []Difference {
	differences := []Difference{}
	add := func(address, reason string) {
		if difference := (Difference{address, reason}); !slices.Contains(differences, difference) {
			differences = append(differences, difference)
		}
	}
	for _, problem := range planned.Problems {
		add(problem.Address, problem.Message)
	}
	r := review{shown: map[string]Server{}, created: map[string]bool{}}
	for _, s := range reviewed.Servers {
		r.shown[s.label()] = s
	}
	for _, change := range reviewed.Others {
		r.shown[change.label()] = Server{Change: change}
	}
	for id, address := range planned.referable {
		r.created[id] = r.shown[address].Action.creates()
	}
	for _, s := range planned.Servers {
		if reason := r.refusal(s); reason != "" {
			add(s.label(), reason)
		}
	}
	for _, change := range planned.Others {
		if reason := r.missing(change); reason != "" && change.needsReview() {
			add(change.label(), reason)
		}
	}
	return differences
}

// review is what a review showed.
type review struct {
	shown map[string]Server // all changes by label
	// created are the ids of templates and SSH keys that exist now and that the review showed as created.
	created map[string]bool
}

// needsReview reports whether the review must have shown the change.
func (c Change) needsReview() bool {
	return c.Action.creates() || c.Action == Destroy || c.Action == Forget || len(c.ChangedArguments) > 0 ||
		c.Action == Unknown
}

// refusal returns why the guard refuses the change of a server; empty if it accepts it.
func (r review) refusal(s Server) string {
	switch {
	case s.Uncapped:
		return "no price cap"
	case s.KopH == nil && s.Action != Unchanged:
		return "its price cannot be determined"
	case !s.needsReview() && !s.RaisesCap:
		return ""
	}
	if reason := r.missing(s.Change); reason != "" {
		return reason
	}
	seen := r.shown[s.label()]
	switch {
	case s.Action == Destroy || s.Action == Forget:
		return ""
	case s.MaxKopH == nil:
		return "no price cap"
	case s.Type == typeFleet && !s.isSizeShown(seen):
		return "different from the review: size"
	}
	return s.higherCap(seen)
}

// isSizeShown reports whether a fleet rents and destroys at most the members that it did in the review.
func (s Server) isSizeShown(seen Server) bool {
	switch planned, reviewed := s.SizeAfter, seen.SizeAfter; {
	case planned == nil || reviewed == nil:
		return planned == reviewed
	case s.SizeBefore == nil || *planned > *s.SizeBefore:
		return *planned <= *reviewed && (seen.SizeBefore == nil || *reviewed > *seen.SizeBefore)
	case *planned < *s.SizeBefore:
		return *planned >= *reviewed
	}
	return true
}

// missing returns why a review did not show the change; empty if it did.
func (r review) missing(c Change) string {
	seen, found := r.shown[c.label()]
	if !found && c.Deposed != "" && c.Action == Destroy {
		seen, found = r.shown[c.Address] // the replacement in the review destroys the object
		found = found && seen.Action == Replace
	} else {
		found = found && seen.Action.covers(c.Action)
	}
	if !found {
		return fmt.Sprintf("%s is not in the review", c.Action)
	}
	var different []string
	for _, name := range slices.Sorted(maps.Keys(c.Arguments)) {
		isSensitive := contains(c.Arguments[name], func(part any) bool { return part == sensitiveValue })
		if isSensitive && !slices.Contains(secretArguments, name) {
			return name + " is sensitive, so that the review cannot show it"
		}
		if !r.isShown(name, seen.Arguments[name], c.Arguments[name]) {
			different = append(different, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen.Arguments)) {
		if c.Arguments != nil && c.Arguments[name] == nil {
			different = append(different, name) // without expires_in_days, a key never expires
		}
	}
	if len(different) == 0 {
		return ""
	}
	return "different from the review: " + strings.Join(different, ", ")
}

// covers reports whether the review of an action shows another one, too.
func (a Action) covers(planned Action) bool {
	return a == planned || planned == Create && a.creates() || a.updates() && planned.updates()
}

// updates reports whether the action changes a resource in place.
func (a Action) updates() bool {
	return slices.Contains([]Action{Update, Start, Stop, Wait, Scale, Repair, Roll}, a)
}

// secretArguments may be sensitive, because they often contain secrets. They are not compared then.
var secretArguments = []string{"env", "onstart", "name"}

// isShown reports whether an argument is as in the review, or smaller, or refers to an object that the review showed as
// created.
func (r review) isShown(name string, seen, planned any) bool {
	if reflect.DeepEqual(seen, planned) {
		return true
	}
	switch name {
	case "size":
		return true // see isSizeShown
	case "template":
		slug, _ := planned.(string)
		return seen == unknownValue && r.created[slug]
	case "ssh_key_ids":
		return r.areKeysShown(seen, planned)
	case "disk_gb", "expires_in_days":
		was, now := integer(seen), integer(planned)
		return now > 0 && now <= was
	}
	return false
}

// areKeysShown reports whether each key is in the review, or one that the review showed as created, in place of one
// that was unknown.
func (r review) areKeysShown(seen, planned any) bool {
	was, _ := seen.([]any)
	now, isList := planned.([]any)
	if !isList {
		return false
	}
	unknown := seen == unknownValue || slices.Contains(was, any(unknownValue))
	return !slices.ContainsFunc(now, func(key any) bool {
		id, _ := key.(string)
		return !slices.Contains(was, key) && !(unknown && r.created[id])
	})
}

// integer returns a positive number; 0 for another value.
func integer(value any) int64 {
	number, _ := value.(json.Number)
	n, err := number.Int64()
	if err != nil {
		return 0
	}
	return n
}

// higherCap returns how a cap is higher than in the review; empty if none is.
func (s Server) higherCap(seen Server) string {
	switch {
	case seen.MaxKopH == nil:
		return fmt.Sprintf("the price cap is %d kopecks per hour, but not known in the review", *s.MaxKopH)
	case isRaised(seen.MaxKopH, s.MaxKopH):
		return fmt.Sprintf("the price cap is %d kopecks per hour, but %d in the review", *s.MaxKopH, *seen.MaxKopH)
	case isRaised(seen.MaxPriceKopH, s.MaxPriceKopH):
		return "max_price_kop_h is higher than in the review, or not set"
	}
	return ""
}
