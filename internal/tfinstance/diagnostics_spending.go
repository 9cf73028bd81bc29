package tfinstance

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries that several diagnostics share.
const (
	summaryInsufficientBalance = "Insufficient balance for this plan"
	summaryBurnLimit           = "Burn rate would exceed max_burn_kop_h"
)

// AddSpendingProblems reports the problems of a spending check. notStarted is a sentence, such as "Nothing was
// started.", that describes what an error prevented.
func AddSpendingProblems(diags *diag.Diagnostics, problems []*failure.Error, notStarted tfkit.Text) {
	for _, problem := range problems {
		switch problem.Kind {
		case failure.NotEnoughFunds:
			text := missingFundsText(problem)
			if problem.Warning {
				tfkit.AddWarning(diags, summaryInsufficientBalance, text)
			} else {
				tfkit.AddError(diags, summaryInsufficientBalance, text+" "+notStarted)
			}
		case failure.AboveLimit:
			text := SpendingErrorText(problem)
			if problem.Warning {
				tfkit.AddWarning(diags, summaryBurnLimit, text+" The apply compares again right before the "+
					"request, and rents or starts nothing above the limit.")
			} else {
				tfkit.AddError(diags, summaryBurnLimit, text+" "+notStarted+" Start less, stop or destroy "+
					"something first, or raise the limit.")
			}
		case failure.AccountUnreadable:
			addUnreadableAccount(diags, problem)
		default:
		}
	}
}

// SpendingErrorText explains why a limit does not allow a rental or a start.
func SpendingErrorText(problem *failure.Error) tfkit.Text {
	if problem.Kind == failure.AccountUnreadable {
		return "the account cannot be compared with max_burn_kop_h. " + tfkit.ErrorDetail(problem.Err)
	}
	return tfkit.Textf("The account costs %s. With this it would cost %s, and the provider's spending.max_burn_kop_h "+
		"is %s.", tfkit.PerHour(problem.NowKopH), tfkit.HourlyRubles(problem.PriceKopH), tfkit.PerHour(problem.LimitKopH))
}

// missingFundsText explains a problem of the kind failure.NotEnoughFunds.
func missingFundsText(problem *failure.Error) tfkit.Text {
	return tfkit.Textf("The balance must cover two hours of an instance before it starts. What this resource starts "+
		"costs %s, so two hours cost %s. The account has %s, including its credit limit. Missing: %s. Top up the "+
		"balance in the service's console, or start less.",
		tfkit.HourlyRubles(problem.StartsKopH), tfkit.Rubles(problem.NeedKop), tfkit.Rubles(problem.HaveKop),
		tfkit.Rubles(problem.NeedKop-problem.HaveKop))
}

func addUnreadableAccount(diags *diag.Diagnostics, problem *failure.Error) {
	if !problem.Warning {
		tfkit.AddAPIError(diags, "check the spending limits", problem.Err)
		return
	}
	tfkit.AddWarning(diags, "Cannot check the balance", tfkit.ErrorDetail(problem.Err)+
		"\n\nThe plan continues without this check. To turn it off, set spending.require_funds = \"off\".")
}
