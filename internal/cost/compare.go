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
	shown := map[string]Change{}
	for _, change := range reviewed.changes() {
		shown[change.label()] = change
	}
	servers := map[string]Server{}
	for _, s := range reviewed.Servers {
		servers[s.label()] = s
	}
	// created are the ids of templates and SSH keys that exist now and that the review showed as created.
	created := map[string]bool{}
	for id, address := range planned.referable {
		created[id] = shown[address].Action.creates()
	}
	for _, s := range planned.Servers {
		if reason := s.refusal(shown, servers[s.label()], created); reason != "" {
			add(s.label(), reason)
		}
	}
	for _, change := range planned.Others {
		if reason := change.missing(shown, created); reason != "" && change.needsReview() {
			add(change.label(), reason)
		}
	}
	return differences
}

// needsReview reports whether the review must have shown the change.
func (c Change) needsReview() bool {
	return c.Action.creates() || c.Action == Destroy || c.Action == Forget || len(c.ChangedArguments) > 0 ||
		c.Action == Unknown
}

func (s Server) needsReview() bool { return s.Change.needsReview() || s.RaisesCap }

// refusal returns why the guard refuses the change of a server; empty if it accepts it. seen is the server in the
// review, zero if it is not there.
func (s Server) refusal(shown map[string]Change, seen Server, created map[string]bool) string {
	switch {
	case s.Uncapped:
		return "no price cap"
	case s.AfterKopH == nil && s.Action != Unchanged:
		return "its price cannot be determined"
	case !s.needsReview():
		return ""
	}
	if reason := s.missing(shown, created); reason != "" {
		return reason
	}
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
func (c Change) missing(shown map[string]Change, created map[string]bool) string {
	seen, found := shown[c.label()]
	if !found && c.Deposed != "" && c.Action == Destroy {
		seen, found = shown[c.Address] // the replacement in the review destroys the object
		found = found && seen.Action == Replace
	} else {
		found = found && seen.Action.covers(c.Action)
	}
	if !found {
		return fmt.Sprintf("%s is not in the review", c.Action)
	}
	var different []string
	for _, name := range slices.Sorted(maps.Keys(c.Arguments)) {
		if isSensitive(c.Arguments[name]) && !slices.Contains(secretArguments, name) {
			return name + " is sensitive, so that the review cannot show it"
		}
		if !isShown(name, seen.Arguments[name], c.Arguments[name], created) {
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

// isSensitive reports whether a part of an argument is sensitive.
func isSensitive(value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, isSensitive)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), isSensitive)
	}
	return value == sensitiveValue
}

// isShown reports whether an argument is as in the review, or smaller, or refers to an object that the review showed as
// created.
func isShown(name string, seen, planned any, created map[string]bool) bool {
	if reflect.DeepEqual(seen, planned) {
		return true
	}
	switch name {
	case "size":
		return true // see isSizeShown
	case "template":
		slug, _ := planned.(string)
		return seen == unknownValue && created[slug]
	case "ssh_key_ids":
		return areKeysShown(seen, planned, created)
	case "disk_gb", "expires_in_days":
		was, now := integer(seen), integer(planned)
		return was != nil && now != nil && *now <= *was
	}
	return false
}

// areKeysShown reports whether each key is in the review, or one that the review showed as created, in place of one
// that was unknown.
func areKeysShown(seen, planned any, created map[string]bool) bool {
	was, _ := seen.([]any)
	now, isList := planned.([]any)
	if !isList {
		return false
	}
	unknown := seen == unknownValue || slices.Contains(was, any(unknownValue))
	return !slices.ContainsFunc(now, func(key any) bool {
		id, _ := key.(string)
		return !slices.Contains(was, key) && !(unknown && created[id])
	})
}

func integer(value any) *int64 {
	number, ok := value.(json.Number)
	if !ok {
		return nil
	}
	n, err := number.Int64()
	if err != nil {
		return nil
	}
	return &n
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
