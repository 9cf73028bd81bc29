package tfinstance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Failure is the message about an error of a creation, a change of state or a check. A slot of a fleet shows only the
// reason.
type Failure struct {
	Argument string // that it is about; empty for the whole resource
	Summary  tfkit.Text
	Reason   tfkit.Text // what happened
	Advice   tfkit.Text // what to do
	API      error      // the error of the API, whose message and request id belong to the message; nil without one
}

// Describe is the only translation of errors into messages. inst is the instance that the error is about, as far as it
// is known.
func Describe(err error, inst rental.Instance) Failure {
	for _, describe := range []func(error, rental.Instance) (Failure, bool){
		describeRejected, describeWait, describeKey, describeOffer, describeSpending,
	} {
		if f, ok := describe(err, inst); ok {
			return f
		}
	}
	if e, ok := errors.AsType[market.NotTried](err); ok {
		return Failure{Summary: cannotCreate, Reason: "Not tried, because another member failed: " +
			Describe(e.Cause, rental.Instance{}).Reason}
	}
	f := Failure{Summary: cannotCreate, Reason: tfkit.Textf("%s.", err) + tfkit.FieldErrors(err), API: err}
	if inst.ID != "" {
		f.Summary = tfkit.Textf("Cannot change the state of instance %s", inst.ID)
	}
	return f
}

// AddFailure reports an error as Describe describes it, with more details. arguments are those that an error of the API
// can concern.
func AddFailure(
	diags *diag.Diagnostics, err error, inst rental.Instance, details tfkit.Text, arguments ...string,
) {
	f := Describe(err, inst)
	advice := f.Advice
	if NothingRented(err) {
		did := tfkit.Text("Nothing was rented or started. ")
		if inst.ID != "" {
			did = "It was not started. "
		}
		advice = did + advice
	}
	detail := f.Reason + " " + advice + details
	switch {
	case f.API != nil && f.Advice == "" && details != "":
		tfkit.AddError(diags, f.Summary, tfkit.ErrorDetail(f.API)+details)
	case f.API != nil && (rental.IsValidation(f.API) || f.Advice == ""):
		tfkit.AddAPIErrorAdvising(diags, f.Summary, "", f.API, arguments...)
	case f.API != nil:
		tfkit.AddAPIErrorAdvising(diags, f.Summary, f.Advice+details, f.API, arguments...)
	case f.Argument != "":
		tfkit.AddAttributeError(diags, path.Root(f.Argument), f.Summary, detail)
	default:
		tfkit.AddError(diags, f.Summary, detail)
	}
}

// NothingRented reports whether an error is that of a creation or a start that rented nothing. An error that contains
// such a one is another one: an instance that is Rejected was rented.
func NothingRented(err error) bool {
	nothing, ok := err.(interface{ NothingRented() bool })
	return ok && nothing.NothingRented()
}

const cannotCreate = "Cannot create instance"

// WidenQuery is the advice for a query without an offer.
const WidenQuery tfkit.Text = "Remove filters, add fallback_queries, or raise max_price_kop_h."

// describeOffer describes why no offer was rented.
func describeOffer(err error, _ rental.Instance) (f Failure, ok bool) {
	switch e := err.(type) { //nolint:errorlint // an error that contains one of these is another one
	case lifecycle.Interrupted:
		f = Failure{Summary: cannotCreate, Advice: "Apply again."}
		f.Reason = "The run was interrupted before anything was rented."
		if errors.Is(e.Err, context.DeadlineExceeded) {
			f.Reason, f.Advice = "The timeout expired before anything was rented.", "Apply again, or raise timeouts.create."
		}
	case market.NoOffer:
		f = Failure{Argument: "offer_query", Summary: "No matching offer could be rented", Advice: WidenQuery}
		f.Reason = OffersText(e.Counts)
		if e.Waited == 0 {
			f.Advice += " To wait for an offer, set wait_for_offer."
		} else {
			f.Reason = tfkit.Textf("The creation waited %s for an offer. ", e.Waited.Round(time.Second)) + f.Reason
		}
		if e.Last != nil {
			f.Reason += " The last one: " + Describe(e.Last, rental.Instance{}).Reason
		}
	case market.OffersUnreadable:
		f = Failure{Summary: "Cannot read offers", API: e.Err}
		f.Reason = tfkit.Textf("The offers could not be read: %s.", e.Err)
	case lifecycle.OfferUnavailable:
		f = Failure{Argument: "offer_id", Summary: cannotCreate, Reason: tfkit.Textf("Offer %s is not available.", e.OfferID)}
		f.Advice = planAgain
	case lifecycle.NotInterruptible:
		f = Failure{Argument: "type", Summary: "Offer has no interruptible price"}
		f.Reason = tfkit.Textf("Offer %s cannot be rented as interruptible.", e.OfferID)
		f.Advice = "Choose another offer, or set type = \"on_demand\"."
	case lifecycle.OfferAboveCap:
		f = Failure{Argument: "max_price_kop_h", Summary: "Offer price above max_price_kop_h"}
		f.Reason = tfkit.Textf("Offer %s costs %s now, and max_price_kop_h is %s.", e.OfferID,
			tfkit.HourlyRubles(e.PriceKopH), tfkit.PerHour(e.CapKopH))
		f.Advice = "Choose another offer, or raise max_price_kop_h."
	case lifecycle.OfferRefused:
		f = Failure{Summary: cannotCreate, API: e.Err, Advice: refusedAdvice(e)}
		f.Reason = tfkit.Textf("The API refused to rent offer %s: %s.", e.OfferID, e.Err) + tfkit.FieldErrors(e.Err)
	default:
		return Failure{}, false
	}
	return f, true
}

// planAgain is the advice for an offer that is not available.
const planAgain tfkit.Text = "Plan again to choose an available offer, or use offer_query, which rents the first " +
	"available one."

// refusedAdvice depends on the availability of the offer after the refusal.
func refusedAdvice(e lifecycle.OfferRefused) tfkit.Text {
	switch {
	case e.Afterwards == lifecycle.NotAvailable:
		return tfkit.Textf("Nothing was rented: offer %s is not available. ", e.OfferID) + planAgain
	case e.Afterwards == lifecycle.AvailabilityUnknown:
		return tfkit.Textf("Nothing was rented. Offer %s could not be read afterwards: it may not be available, its price "+
			"may have changed, or a limit of the account is reached. Plan again.", e.OfferID)
	case rental.IsConflict(e.Err):
		return "Nothing was rented. The offer is still listed as available. Most likely a limit of the account is reached, " +
			"such as the number of instances: destroy an instance, or ask the service's support for a higher limit."
	}
	return "Nothing was rented. The offer is still listed as available. If another customer rented it within the last " +
		"minute, apply again. Otherwise something else in the request does not exist, most likely the template."
}

// OffersText describes why there are fewer offers than needed.
func OffersText(counts market.Counts) tfkit.Text {
	text := tfkit.Textf("Offers needed: %d. Matching the query: %d", counts.Needed, counts.Matching)
	if counts.Taken > 0 {
		text += tfkit.Textf(", of which other resources of this run use, or the API has just refused, %d", counts.Taken)
	}
	text += tfkit.Textf(". Usable: %d", counts.Found)
	if counts.Split {
		text += ". More offers match, but not with the same values of the arguments in same"
	}
	return text + "."
}

// describeSpending describes a limit of the provider configuration.
func describeSpending(err error, _ rental.Instance) (f Failure, ok bool) {
	switch e := err.(type) { //nolint:errorlint // an error that contains one of these is another one
	case spending.AboveBurnLimit:
		f = Failure{Summary: "Burn rate would exceed max_burn_kop_h"}
		f.Reason = tfkit.Textf("Without this, the account costs %s. With it, it would cost %s, and the provider's "+
			"spending.max_burn_kop_h is %s.", tfkit.PerHour(e.NowKopH), tfkit.HourlyRubles(e.ThenKopH),
			tfkit.PerHour(e.LimitKopH))
		f.Advice = "Start less, stop or destroy something first, or raise the limit."
	case spending.NotEnoughFunds:
		f = Failure{Summary: "Insufficient balance for this plan"}
		f.Reason = tfkit.Textf("The balance must cover two hours of an instance before it starts. What this resource starts "+
			"costs %s, so two hours cost %s. The account has %s, including its credit limit. Missing: %s.",
			tfkit.HourlyRubles(e.StartsKopH), tfkit.Rubles(e.NeedKop), tfkit.Rubles(e.HaveKop),
			tfkit.Rubles(e.NeedKop-e.HaveKop))
		f.Advice = "Top up the balance in the service's console, or start less."
	case spending.AccountUnreadable:
		f = Failure{Summary: "Cannot check the spending limits", API: e.Err}
		f.Reason = tfkit.Textf("The account cannot be compared with max_burn_kop_h: %s.", e.Err)
	default:
		return Failure{}, false
	}
	return f, true
}

// AddSpendingProblems reports the problems of a spending check of a plan.
func AddSpendingProblems(diags *diag.Diagnostics, problems []spending.Problem) {
	for _, problem := range problems {
		f := Describe(problem.Err, rental.Instance{})
		switch {
		case !problem.Warning:
			AddFailure(diags, problem.Err, rental.Instance{}, "")
		case f.API != nil:
			tfkit.AddWarning(diags, "Cannot check the balance", tfkit.ErrorDetail(f.API)+"\n\nThe plan continues without "+
				"this check. To turn it off, set spending.require_funds = \"off\".")
		default:
			tfkit.AddWarning(diags, f.Summary, f.Reason+" The apply compares again right before each request, and rents or "+
				"starts nothing above a limit.")
		}
	}
}
