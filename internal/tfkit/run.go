package tfkit

import "sync/atomic"

// Run reports whether one configuration of the provider serves a single plan or apply.
//
// For each plan and for each apply, Terraform and OpenTofu start a process, validate the provider's configuration,
// configure the provider, and validate every resource right before they plan it. The totals of such a process belong to
// one plan, and its caches are valid until it ends.
//
// "terraform test" (since Terraform 1.13) and programs that embed a provider configure one process and then plan and
// apply in it many times. They skip the first validation or all of them, and nothing marks where a run begins. There,
// each resource is checked alone at plan, limits are enforced when a server is rented or started, and nothing is
// cached.
type Run struct {
	many                 bool
	validations, planned atomic.Int64
}

// NewRun returns the Run of a configuration. validated reports whether the process has validated it.
func NewRun(validated bool) *Run { return &Run{many: !validated} }

// CountValidation records that a resource was validated.
func (r *Run) CountValidation() {
	if r != nil {
		r.validations.Add(1)
	}
}

// CountPlan records that a validated resource is being planned.
func (r *Run) CountPlan() {
	if r != nil {
		r.planned.Add(1)
	}
}

// Single reports whether the configuration serves a single plan or apply. It is true for nil.
func (r *Run) Single() bool {
	return r == nil || !r.many && r.planned.Load() <= r.validations.Load()
}
