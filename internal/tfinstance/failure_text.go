package tfinstance

import (
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// OffersText describes the offers that match the queries of a failed creation.
func OffersText(e failure.Offers) tfkit.Text {
	text := tfkit.Textf("Offers that match the query: %d", e.Matching)
	if e.Tried > 0 {
		text += tfkit.Textf("; tried, and not available or more expensive then: %d", e.Tried)
	}
	if e.Reserved > 0 {
		text += tfkit.Textf("; used by other instances of this run, or not available a moment ago: %d", e.Reserved)
	}
	return text + "."
}

// LastOfferText is the reason why the last offer of a query was not rented.
func LastOfferText(err error) tfkit.Text {
	e := failure.As(err)
	switch {
	case e.Kind == failure.OffersUnreadable:
		return tfkit.Textf("The offers could not be read: %s", e.Err)
	case e.Kind == failure.AboveLimit:
		return tfkit.Textf("The last offer, %s, costs %s, and max_price_kop_h is %s",
			e.OfferID, tfkit.PerHour(e.PriceKopH), tfkit.PerHour(e.LimitKopH))
	case e.Kind != failure.OfferRefused:
		return tfkit.Textf("The last offer: %s", err)
	case e.Availability == failure.NoPriceForType:
		return tfkit.Textf("The last offer, %s, cannot be rented as interruptible", e.OfferID)
	case e.Availability == failure.NotAvailable:
		return tfkit.Textf("The last offer, %s, is not available", e.OfferID)
	}
	return tfkit.Textf("The API refused to rent the last offer, %s: %s", e.OfferID, e.Err)
}

// RefusedText is the next step after a rejected request. It depends on the availability of the offer afterwards.
func RefusedText(e failure.Error) tfkit.Text {
	switch e.Availability {
	case failure.NotAvailable:
		return tfkit.Textf("Nothing was rented: offer %s is not available. Run plan again to choose an available offer, "+
			"or use offer_query, which rents the first available one.", e.OfferID)
	case failure.AvailabilityUnknown:
		return tfkit.Textf("Nothing was rented. Offer %s could not be read afterwards: it may not be available, its price "+
			"may have changed, or a limit of the account is reached. Run plan again.", e.OfferID)
	case failure.Available, failure.NoPriceForType: // the caller reports the latter
	}
	if rental.IsConflict(e.Err) {
		return "Nothing was rented. The offer is still listed as available. Most likely a limit of the account is reached, " +
			"such as the number of instances: destroy an instance, or ask the service's support for a higher limit. If " +
			"another customer rented the offer within the last minute, apply again."
	}
	return "Nothing was rented. The offer is still listed as available. If another customer rented it within the last " +
		"minute, apply again. Otherwise something else in the request does not exist, most likely the template."
}

// DifferencesText describes differences between an instance and its request. It does not contain the value of a string
// argument, which may be sensitive.
func DifferencesText(differences []failure.Difference) (text tfkit.Text) {
	for i, d := range differences {
		if i > 0 {
			text += "; "
		}
		switch d.Attribute {
		case "template", "image", "type":
			text += tfkit.Textf("%s is %s, which was not requested", d.Attribute, d.Actual)
		default:
			text += tfkit.Textf("%s is %s instead of %s", d.Attribute, d.Actual, d.Requested)
		}
	}
	return text
}

// CauseText describes what a wait lacked at its end: an API error, or the conditions of ready_when that the instance
// did not meet.
func CauseText(err error) tfkit.Text {
	var text tfkit.Text
	e := failure.As(err)
	if e.Last != nil {
		text = tfkit.Textf(" The last request failed: %s.", e.Last)
	}
	for _, missing := range e.Missing {
		text += tfkit.Textf("\nready_when.%s is not met: %s.", missing.Condition, missing.Err)
	}
	return text
}
