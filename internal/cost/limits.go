package cost

// Limit is the result of a limit for the price of a plan.
type Limit struct {
	// Name is "max_burn", for the sum after the apply, or "max_added", for its change.
	Name     string `json:"name"`
	MaxKopH  int64  `json:"max_kop_h"` // kopecks per hour
	PlanKopH int64  `json:"plan_kop_h"`
	// Exceeded: PlanKopH is higher than the limit.
	Exceeded bool `json:"exceeded"`
	// Undetermined: the plan has problems or prices that cannot be determined, so that the limit may be exceeded.
	Undetermined bool `json:"undetermined"`
}

// Check compares the plan with limits in kopecks per hour, nil for none, and reports whether it certainly keeps them,
// apart from the disk of Totals.DiskExcluded.
func (r *Report) Check(maxBurn, maxAdded *int64) bool {
	kept := true
	for _, limit := range []struct {
		name    string
		maximum *int64
		kopH    int64
	}{{"max_burn", maxBurn, r.Totals.AfterKopH}, {"max_added", maxAdded, r.Totals.ChangeKopH}} {
		if limit.maximum == nil {
			continue
		}
		result := Limit{
			Name: limit.name, MaxKopH: *limit.maximum, PlanKopH: limit.kopH, Exceeded: limit.kopH > *limit.maximum,
			Undetermined: len(r.Totals.Undetermined)+len(r.Problems) > 0,
		}
		r.Limits = append(r.Limits, result)
		kept = kept && !result.Exceeded && !result.Undetermined
	}
	return kept
}
