package instance

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// fundedHours is how many hours of runtime the service wants covered before it
// starts a server.
const fundedHours = 2

// spendingPlan sums up what a plan starts, as its instances are planned one by
// one. All amounts are kopecks per hour. Its zero value is an empty plan.
type spendingPlan struct {
	mu     sync.Mutex
	starts int64 // prices of the servers that did not run before
	added  int64 // by how much the burn rate grows
	warned map[string]bool
	burn   burnReservations

	postponed map[string]int // plans without a known price, by their arguments
}

// postpone records a new server that has no known price at plan, so that the spending limits are checked when it is
// created.
func (s *spendingPlan) postpone(plan model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.postponed == nil {
		s.postponed = map[string]int{}
	}
	s.postponed[argumentsOf(plan)]++
}

// postponedCheck returns the check that the plan could not make, for the price of the offer that is about to be rented;
// nil when there is none.
func (r *instanceResource) postponedCheck(plan model, diags *diag.Diagnostics) func(ctx context.Context, kopH int64) error {
	if !hasHardLimit(r.Meta) || !r.fleet().spending.takePostponed(plan) {
		return nil
	}
	counted := int64(0)
	return func(ctx context.Context, kopH int64) error {
		var found diag.Diagnostics
		more := max(0, kopH-counted) // than for an offer that could not be rented
		checkMoney(ctx, r.Meta, change{starts: more, added: more}, &found)
		counted += more
		if !found.HasError() {
			return nil
		}
		diags.Append(found.Errors()...)
		return reportedError{}
	}
}

// takePostponed reports whether the limits are still to be checked for a server, and counts it as checked.
func (s *spendingPlan) takePostponed(plan model) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	arguments := argumentsOf(plan)
	if s.postponed[arguments] == 0 {
		return false
	}
	s.postponed[arguments]--
	return true
}

// argumentsOf is what decides about the price of a server. Servers with equal arguments need no distinction.
func argumentsOf(plan model) string {
	return fmt.Sprint(plan.OfferID, plan.OfferQuery, plan.Type, plan.MaxPriceKopH, plan.DiskGB)
}

// change is what the plan for one server does to the money.
type change struct {
	starts int64 // its price while running when the plan starts it, else 0
	added  int64 // by how much it raises the burn rate
	// creates: a new server is created. Once its predecessor is destroyed, nothing offsets its price, so it has to be
	// within the limit even if it costs less.
	creates bool
}

// add sums up one more server, and returns the sums so far.
func (s *spendingPlan) add(c change) (starts, added int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts += c.starts
	s.added += c.added
	return s.starts, s.added
}

// firstWarning is true for the first server that causes a warning. Without totals, each server is checked alone and has
// a warning of its own.
func (s *spendingPlan) firstWarning(meta *tfkit.Meta, summary string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if meta.Run.Single() && s.warned[summary] {
		return false
	}
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	s.warned[summary] = true
	return true
}

// watchesMoney reports whether there is anything to check.
func watchesMoney(meta *tfkit.Meta) bool {
	return meta.Ready() && (meta.Spending.RequireFunds != tfkit.FundsOff || meta.Spending.MaxBurnKopH > 0)
}

// hasHardLimit reports whether a limit is configured that fails a plan. It also fails when it cannot be checked.
func hasHardLimit(meta *tfkit.Meta) bool {
	return meta.Ready() && (meta.Spending.RequireFunds == tfkit.FundsError || meta.Spending.MaxBurnKopH > 0)
}

// checkMoney compares the plan so far with the account. If the account cannot be read, a limit that fails plans fails
// this one, and a limit that warns warns.
func checkMoney(ctx context.Context, meta *tfkit.Meta, c change, diags *diag.Diagnostics) {
	if !watchesMoney(meta) || c == (change{}) {
		return
	}
	f := fleetOf(meta)
	starts, added := c.starts, c.added
	if meta.Run.Single() {
		starts, added = f.spending.add(c)
	}
	money, err := f.money(ctx, meta)
	if err != nil {
		addUnreadableAccount(meta, diags, err)
		return
	}
	if c.starts > 0 {
		checkFunds(meta, money.Balance, starts, diags)
	}
	if !c.creates && added <= 0 {
		return
	}
	if text := tooMuchBurn(f.burnRate(meta, money), added, meta.Spending.MaxBurnKopH); text != "" {
		diags.AddError(tooMuchBurnSummary, text)
	}
}

func checkFunds(meta *tfkit.Meta, balance rental.Balance, starts int64, diags *diag.Diagnostics) {
	const summary = "The balance does not cover what this plan starts"
	text := shortOfFunds(balance, starts)
	switch {
	case text == "" || meta.Spending.RequireFunds == tfkit.FundsOff:
	case meta.Spending.RequireFunds == tfkit.FundsError:
		diags.AddError(summary, text+" "+notStarted)
	case fleetOf(meta).spending.firstWarning(meta, summary):
		diags.AddWarning(summary, text)
	}
}

// addUnreadableAccount reports that spending cannot be checked. An unusable API key is always an error.
func addUnreadableAccount(meta *tfkit.Meta, diags *diag.Diagnostics, err error) {
	switch {
	case rental.IsUnauthorized(err):
		tfkit.AddError(diags, "read the balance", err)
		return
	case hasHardLimit(meta):
		tfkit.AddError(diags, "check the spending limits", err)
		return
	}
	const summary = "Cannot check the balance"
	if fleetOf(meta).spending.firstWarning(meta, summary) {
		var found diag.Diagnostics
		tfkit.AddError(&found, "check the spending limits", err)
		diags.AddWarning(summary, found[0].Detail()+
			"\n\nThe plan continues without this check. spending.require_funds = \"off\" in the provider configuration turns it off.")
	}
}

const tooMuchBurnSummary = "The plan burns more than max_burn_kop_h allows"

// notStarted ends every refusal. Each server beyond the limit is refused, so that none of them is rented.
const notStarted = "This server was not started."

// shortOfFunds is empty when the account covers the funded hours of all starts.
func shortOfFunds(balance rental.Balance, starts int64) string {
	have, need := balance.AvailableKop+balance.CreditLimitKop, fundedHours*starts
	if have >= need {
		return ""
	}
	return fmt.Sprintf("The service starts a server only when the balance covers two hours of it. What this plan starts costs at least %s, so two hours cost %s; "+
		"the account has %s with its credit limit. Missing: %s. Top up in the service's console, or start less.",
		tfkit.HourlyRubles(starts), tfkit.Rubles(need), tfkit.Rubles(have), tfkit.Rubles(need-have))
}

// tooMuchBurn is empty when the burn rate with what is added is within the limit; 0 is no limit. All amounts are kopecks
// per hour.
func tooMuchBurn(burn, added, limit int64) string {
	after := burn + added
	if limit == 0 || after <= limit {
		return ""
	}
	return fmt.Sprintf("The account burns %s. With what this plan starts it would be at least %s, and the provider's spending.max_burn_kop_h allows %s. "+notStarted+" "+
		"Start less, stop or destroy something first (what this plan destroys elsewhere is not deducted), or raise the limit.",
		tfkit.HourlyRubles(burn), tfkit.HourlyRubles(after), tfkit.HourlyRubles(limit))
}
