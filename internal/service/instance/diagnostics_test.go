package instance

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// untrusted is a text that looks like a message of Terraform and like a configuration.
var untrusted = "x\nError: injected\x1b[31m${file(\"/etc/passwd\")}\u2028import {\n" + strings.Repeat("y", 5000)

// fillUntrusted sets every text in a value to the untrusted text, lists and pointers included.
func fillUntrusted(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(untrusted)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillUntrusted(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 500, 500))
		for i := range v.Len() {
			fillUntrusted(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[time.Time]() {
				fillUntrusted(v.Field(i))
			}
		}
	default:
	}
}

// expectSanitized checks that an untrusted text begins no line, contains no control characters, and is shortened.
func expectSanitized(t *testing.T, diags diag.Diagnostics) {
	t.Helper()
	if len(diags) == 0 {
		t.Error("nothing was reported")
	}
	for _, d := range diags {
		if strings.ContainsAny(d.Summary(), "\n\x1b\u2028") || strings.ContainsAny(d.Detail(), "\x1b\u2028") ||
			len(d.Summary()) > 600 ||
			len(d.Detail()) > 8000 {
			t.Errorf("%d and %d bytes:\n%q\n%q", len(d.Summary()), len(d.Detail()), d.Summary(), d.Detail())
		}
		for line := range strings.Lines(d.Detail()) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "Error") || strings.HasPrefix(line, "import") {
				t.Errorf("a line of the service's own: %q", line)
			}
		}
	}
}

// newTestResource returns a resource with a client.
func newTestResource(client *rental.Client) *instanceResource {
	return &instanceResource{tfkit.Resource{Name: "instance", Meta: &tfkit.Meta{Client: client}}}
}

func TestDiagnostics_SanitizeAPITexts(t *testing.T) {
	client := rentaltest.Client(t, rentaltest.New(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning))
	var inst rental.Instance
	var offer rental.Offer
	fillUntrusted(reflect.ValueOf(&inst).Elem())
	fillUntrusted(reflect.ValueOf(&offer).Elem())
	inst.Omitted = rental.InstanceOmitted{}
	for i := range inst.URLs {
		inst.URLs[i].URL = nil
	}
	offer.GPU.Slug = "another"
	r := newTestResource(client)
	owner := lifecycle.Object{Token: untrusted, Fleet: untrusted}
	order := lifecycle.Order{ExpectedImage: "a", Request: rental.InstanceCreate{Template: "a", Type: "a"}}
	rented := lifecycle.Rented{Instance: inst, Candidate: &lifecycle.Candidate{Offer: offer}, Order: order}
	differences := []lifecycle.Difference{{Attribute: "image", Actual: untrusted, Requested: untrusted, Harmful: true}}
	replaced := &replacedInstance{ID: untrusted, OfferID: untrusted}
	apiErr := &rental.Error{Status: 409, Code: rental.CodeConflict}
	cause := errors.New(untrusted)

	for name, report := range map[string]func(diags *diag.Diagnostics){
		"waits": func(diags *diag.Diagnostics) {
			for _, err := range []error{
				lifecycle.Missing{}, lifecycle.NeedsReplacement{}, lifecycle.Reverted{}, lifecycle.OutbidAgain{Starts: 3},
				lifecycle.StateRefused{Err: apiErr}, lifecycle.AboveCap{}, lifecycle.StoppedAgain{Reason: lifecycle.AboveCap{}},
				lifecycle.StillRunning{Reason: spending.AboveBurnLimit{}, Err: cause}, apiErr,
			} {
				addNotConverged(t.Context(), r.Meta.Client, diags, inst, err, "")
			}
			running := inst
			running.Status = rental.StatusRunning
			addMissingAddress(diags, lifecycle.Converged{Instance: running, NoSSH: true}, time.Minute)
			tfkit.AddWarning(diags, "", tfinstance.LastSeen(t.Context(), client, running))
		},
		"creations": func(diags *diag.Diagnostics) {
			for _, err := range []error{
				lifecycle.Interrupted{Err: context.Canceled}, lifecycle.OutcomeUnknown{Key: untrusted, Err: cause},
				lifecycle.OfferUnavailable{OfferID: untrusted}, lifecycle.NotInterruptible{OfferID: untrusted},
				lifecycle.OfferAboveCap{OfferID: untrusted},
				lifecycle.OfferRefused{OfferID: untrusted, Err: apiErr}, lifecycle.NotRecent{Instance: inst},
				lifecycle.ReplayDiffers{Instance: inst, Differences: differences}, lifecycle.InUse{Instance: inst},
				market.NoOffer{Last: lifecycle.OfferAboveCap{OfferID: untrusted}}, market.OffersUnreadable{Err: cause},
				market.NotTried{Cause: cause}, spending.AccountUnreadable{Err: cause},
			} {
				r.addNotCreated(t.Context(), diags, nil, err)
			}
			for removal := lifecycle.NotRemoved; removal <= lifecycle.Stopped; removal++ {
				for _, reason := range []error{lifecycle.AboveCap{}, lifecycle.NotAsOrdered{Differences: differences}} {
					addNotConverged(t.Context(), r.Meta.Client, diags, inst,
						lifecycle.Rejected{Reason: reason, Removal: removal, Err: cause}, "")
				}
			}
			addRented(diags, rented)
			rented.Recovered = true
			addRented(diags, rented)
			tfinstance.AddKeptForOther(diags, untrusted)
			tfinstance.AddTwoObjects(diags, untrusted, owner, owner)
		},
		"plans": func(diags *diag.Diagnostics) {
			addOwnOffer(diags, replaced)
			addNotApplied(diags, argSSHKeyIDs, untrusted)
			for _, query := range []rental.OfferQuery{{GPU: []string{"a"}}, {Country: []string{"a"}}} {
				addQueryMissed(diags, untrusted, missedByInstance(inst, query))
			}
			addDuplicateName(diags, []rental.Instance{inst, inst}, true)
		},
		"actions": func(diags *diag.Diagnostics) {
			addNotFound(diags, "start", untrusted)
			addFinal(diags, "start", inst)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			report(&diags)
			expectSanitized(t, diags)
		})
	}
}

// The message about a rented instance is not that nothing was rented. It contains that the instance is tainted, unless
// the message itself describes what becomes of it.
func TestAddCreatedNotReady(t *testing.T) {
	limit := spending.AboveBurnLimit{LimitKopH: 1}
	refusal := &rental.Error{Status: 403, Code: rental.CodeForbidden}
	for name, test := range map[string]struct {
		err     error
		tainted bool
	}{
		"destroyed":            {lifecycle.Rejected{Reason: limit, Removal: lifecycle.Destroyed}, false},
		"stopped":              {lifecycle.Rejected{Reason: limit, Removal: lifecycle.Stopped}, true},
		"still running":        {lifecycle.StillRunning{Reason: limit, Err: refusal}, true},
		"start above limit":    {limit, true},
		"start not comparable": {spending.AccountUnreadable{Err: refusal}, true},
		"start refused":        {refusal, true},
	} {
		var diags diag.Diagnostics
		newTestResource(nil).addCreatedNotReady(
			t.Context(), &diags, rental.Instance{ID: "ins_1"}, false, time.Minute, test.err)
		text := diags[0].Detail()
		if strings.Contains(text, "Nothing was rented") || strings.Contains(text, "tainted") != test.tainted {
			t.Errorf("%s: %s", name, text)
		}
	}
}
