package instance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
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

// untrustedLog responds to every request with a log of 50 untrusted lines.
type untrustedLog struct{}

func (untrustedLog) RoundTrip(req *http.Request) (*http.Response, error) {
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = untrusted
	}
	return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"lines": lines})
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
	client := rentaltest.Client(t, untrustedLog{})
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
	order := lifecycle.Order{ExpectedImage: "a", InstanceCreate: rental.InstanceCreate{Template: "a", Type: "a"}}
	rented := lifecycle.Rented{Instance: inst, Candidate: &lifecycle.Candidate{Offer: offer}}
	differences := []failure.Difference{{Attribute: "image", Actual: untrusted, Requested: untrusted, Harmful: true}}
	replaced := &replacedInstance{ID: untrusted, OfferID: untrusted, RunningKopH: 1}
	apiErr := &rental.Error{Status: 409, Code: rental.CodeConflict}

	for name, report := range map[string]func(diags *diag.Diagnostics){
		"waits": func(diags *diag.Diagnostics) {
			for _, kind := range []failure.Kind{
				failure.Gone, failure.NeedsReplacement, failure.Reverted, failure.OutbidAgain, failure.KeptOutbid,
				failure.StateRefused, failure.NotDestroyed, failure.NotPlanned,
			} {
				addNotConverged(t.Context(), r.Meta.Client, diags, inst, &failure.Error{Kind: kind, Err: apiErr})
			}
			addNotConverged(t.Context(), r.Meta.Client, diags, inst, apiErr)
			for removal := failure.NothingRequested; removal <= failure.NotRemoved; removal++ {
				addNotConverged(t.Context(), r.Meta.Client, diags, inst, &failure.Error{
					Kind: failure.AboveLimit, Removal: removal, Err: errors.New(untrusted), Wanted: rental.DesiredRunning,
				})
			}
			running := inst
			running.Status = rental.StatusRunning
			addMissingAddresses(diags, running, lifecycle.Outcome{NoSSH: true}, time.Minute)
			tfkit.AddWarning(diags, "", tfinstance.LastSeen(t.Context(), client, running))
		},
		"creations": func(diags *diag.Diagnostics) {
			for _, kind := range []failure.Kind{
				failure.Interrupted, failure.OutcomeUnknown, failure.NoOffer, failure.OfferRefused, failure.OffersUnreadable,
				failure.NotLost, failure.OtherArguments, failure.InUse, failure.NotTried,
			} {
				for available := failure.AvailabilityUnknown; available <= failure.NoPriceForType; available++ {
					r.addNotCreated(t.Context(), diags, nil, &failure.Error{
						Kind: kind, OfferID: untrusted, Availability: available, Err: apiErr, Key: untrusted,
						ConfiguredKey: untrusted, Instance: inst, Differences: differences,
					})
				}
			}
			aboveCap := &failure.Error{Kind: failure.AboveLimit, OfferID: untrusted}
			r.addNotCreated(t.Context(), diags, nil, &failure.Error{Kind: failure.NoOffer, Last: aboveCap})
			addDiffersFromOffer(diags, rented, order)
			for removal := failure.Destroyed; removal <= failure.NotRemoved; removal++ {
				e := failure.Error{Kind: failure.AboveLimit, Removal: removal, Err: errors.New(untrusted), Differences: differences}
				addRejected(diags, rented, e)
				e.Kind = failure.NotAsRequested
				addRejected(diags, rented, e)
			}
			addRecovered(diags, rented, time.Now())
			tfinstance.AddKeptForOther(diags, untrusted)
			tfinstance.AddTwoObjects(diags, untrusted, owner, owner)
		},
		"plans": func(diags *diag.Diagnostics) {
			addHigherPrice(diags, replaced, 1000)
			addOwnOffer(diags, replaced)
			addReplacedForUnknown(diags, "replace_on", untrusted)
			for _, query := range []rental.OfferQuery{{GPU: []string{"a"}}, {Country: []string{"a"}}} {
				addQueryMissed(diags, untrusted, missedByInstance(inst, query))
			}
			addDuplicateName(diags, []rental.Instance{inst, inst}, true)
		},
		"actions": func(diags *diag.Diagnostics) {
			addStoppedByRestart(diags, inst)
			addNotFound(diags, "start", untrusted)
			addFinal(diags, "start", inst, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			report(&diags)
			expectSanitized(t, diags)
		})
	}
}

// A wait that ended during an outage shows the error of the API, and no number of offers.
func TestAddNotCreated_WaitEndedInAnOutage(t *testing.T) {
	outage := &failure.Error{Kind: failure.OffersUnreadable, Err: errors.New("connection refused")}
	for name, err := range map[string]*failure.Error{
		"wait_for_offer": {Kind: failure.NoOffer, Offers: failure.Offers{Waited: time.Hour}, Last: outage},
		"timeout": {
			Kind: failure.Interrupted, Offers: failure.Offers{Waited: time.Hour}, Err: context.DeadlineExceeded, Last: outage,
		},
		"Ctrl-C": {
			Kind: failure.Interrupted, Offers: failure.Offers{Waited: time.Hour}, Err: context.Canceled, Last: outage,
		},
	} {
		var diags diag.Diagnostics
		newTestResource(nil).addNotCreated(t.Context(), &diags, nil, err)
		detail := diags[0].Detail()
		for text, want := range map[string]bool{
			"The offers could not be read: connection refused.": true, "Nothing was rented": name != "Ctrl-C",
			"The run was interrupted before anything was rented. Apply again.": name == "Ctrl-C",
			"timeouts.create": name == "timeout", "Offers that match": false, "Remove filters": false,
		} {
			if strings.Contains(detail, text) != want {
				t.Errorf("%s: contains %q: %t, want %t\n%s", name, text, !want, want, detail)
			}
		}
	}
}

// A message contains no import block for an id that Terraform could evaluate, and names the place to find the id.
func TestAddDuplicateName_ImportBlockOnlyForPlainID(t *testing.T) {
	for id, block := range map[string]bool{"ins_x7k2": true, `${file("/etc/passwd")}`: false} {
		var diags diag.Diagnostics
		addDuplicateName(&diags, []rental.Instance{{ID: id}}, false)
		text := diags[0].Detail()
		got := strings.Contains(text, fmt.Sprintf("  import {\n    to = gpurent_instance.NAME\n    id = %q\n  }", id))
		if got != block || strings.Contains(text, "import {") != block {
			t.Errorf("%q: import block %t\n%s", id, got, text)
		}
		if strings.Contains(text, noImportBlock) == block {
			t.Errorf("%q: %s", id, text)
		}
	}
}
