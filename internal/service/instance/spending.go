package instance

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"

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
	starts int64 // what runs that did not
	added  int64 // by how much the burn rate grows
	warned bool  // of the funds
	burn   burnReservations
}

// change is what the plan for one server does to the money.
type change struct {
	starts int64 // its price while running when the plan starts it, else 0
	added  int64 // by how much it raises the burn rate
}

// add sums up one more server, and returns the sums so far.
func (s *spendingPlan) add(c change) (starts, added int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts += c.starts
	s.added += c.added
	return s.starts, s.added
}

// firstWarning is true once: one warning is enough for a whole plan.
func (s *spendingPlan) firstWarning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.warned
	s.warned = true
	return first
}

// watchesMoney says whether anything is to be checked.
func watchesMoney(meta *tfkit.Meta) bool {
	return meta.Ready() && (meta.Spending.RequireFunds != tfkit.FundsOff || meta.Spending.MaxBurnKopH > 0)
}

// checkMoney holds the plan so far against the account. Without permission to
// read the balance, or while it cannot be read, it steps aside: the service
// itself refuses what is not covered.
func checkMoney(ctx context.Context, meta *tfkit.Meta, c change, diags *diag.Diagnostics) {
	if !watchesMoney(meta) || c == (change{}) {
		return
	}
	plan := &fleetOf(meta).spending
	starts, added := c.starts, c.added
	if meta.Run.Single() {
		starts, added = plan.add(c)
	}
	balance, err := fleetOf(meta).balance(ctx, meta)
	if rental.IsUnauthorized(err) {
		tfkit.AddError(diags, "read the balance", err)
		return
	}
	if err != nil {
		tflog.Debug(ctx, "The balance cannot be read, so the plan is not held against it", map[string]any{"error": err.Error()})
		return
	}
	const summary = "The balance does not cover what this plan starts"
	text := shortOfFunds(balance, starts)
	switch {
	case text == "" || meta.Spending.RequireFunds == tfkit.FundsOff:
	case meta.Spending.RequireFunds == tfkit.FundsError:
		diags.AddError(summary, text+" "+notStarted)
	case !meta.Run.Single() || plan.firstWarning():
		diags.AddWarning(summary, text)
	}
	if text := tooMuchBurn(balance, added, meta.Spending.MaxBurnKopH); text != "" {
		diags.AddError(tooMuchBurnSummary, text)
	}
}

const tooMuchBurnSummary = "The plan burns more than max_burn_kop_h allows"

// notStarted ends every refusal: it is said for each server that is beyond the limit, so that none of them is rented.
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

// tooMuchBurn is empty when the burn rate stays within the limit; 0 is no limit.
func tooMuchBurn(balance rental.Balance, added, limit int64) string {
	after := balance.BurnKopH + added
	if limit == 0 || added <= 0 || after <= limit {
		return ""
	}
	return fmt.Sprintf("The account burns %s. With what this plan starts it would be at least %s, and the provider's spending.max_burn_kop_h allows %s. "+notStarted+" "+
		"Start less, stop or destroy something first (what this plan destroys elsewhere is not deducted), or raise the limit.",
		tfkit.HourlyRubles(balance.BurnKopH), tfkit.HourlyRubles(after), tfkit.HourlyRubles(limit))
}
