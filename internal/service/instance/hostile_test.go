package instance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// hostile is a text of a service that wants to look like a message of Terraform, or to be pasted into a configuration.
var hostile = "x\nError: injected\x1b[31m${file(\"/etc/passwd\")}\u2028import {\n" + strings.Repeat("y", 5000)

// fillHostile sets every text in a value, lists and pointers included.
func fillHostile(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillHostile(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 500, 500))
		for i := range v.Len() {
			fillHostile(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[time.Time]() {
				fillHostile(v.Field(i))
			}
		}
	default:
	}
}

// hostileLog is a service whose logs have 50 hostile lines, and that has nothing else.
type hostileLog struct{}

func (hostileLog) RoundTrip(req *http.Request) (*http.Response, error) {
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = hostile
	}
	body, err := json.Marshal(map[string]any{"lines": lines})
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}

// expectPlain checks that nothing of a hostile text works: it begins no line, controls no terminal, and is cut.
func expectPlain(t *testing.T, diags diag.Diagnostics) {
	t.Helper()
	if len(diags) == 0 {
		t.Error("nothing was reported")
	}
	for _, d := range diags {
		if strings.ContainsAny(d.Summary(), "\n\x1b\u2028") || strings.ContainsAny(d.Detail(), "\x1b\u2028") || len(d.Summary()) > 600 || len(d.Detail()) > 8000 {
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

func TestMessages_OfAHostileService(t *testing.T) {
	client, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: "test" + strings.Repeat("0", 40), Transport: hostileLog{}})
	if err != nil {
		t.Fatal(err)
	}
	r := &instanceResource{tfkit.Resource{Name: "instance", Meta: &tfkit.Meta{Client: client}}}
	var inst rental.Instance
	var offer rental.Offer
	fillHostile(reflect.ValueOf(&inst).Elem())
	fillHostile(reflect.ValueOf(&offer).Elem())
	inst.Omitted = rental.InstanceOmitted{}
	for i := range inst.URLs {
		inst.URLs[i].URL = nil
	}
	text := types.StringValue(hostile)
	plan := model{ID: text, Template: text, Image: text, Type: text, Name: text, IdempotencyKey: text, OfferID: text}
	server := rented{Instance: inst, offer: &offer, twinTemplate: hostile, unreadable: errors.New("unreadable")}
	holder := keyHolder{id: hostile, name: hostile}
	before := &predecessor{ID: hostile, OfferID: hostile, RunningKopH: 1}
	offer.GPU.Slug = "another"

	for name, report := range map[string]func(diags *diag.Diagnostics){
		"a wait": func(diags *diag.Diagnostics) {
			for _, err := range []error{
				errGone, errNeedsReplacement, errTurnedBack, &outbidAgainError{}, &priceError{stuck: errors.New("stuck")}, &priceError{started: true}, &priceError{},
				&refusal{err: &rental.Error{Status: 409, Code: rental.CodeConflict}}, &rental.Error{Status: 500},
			} {
				r.addWaitError(t.Context(), diags, inst, err)
			}
		},
		"what is missing": func(diags *diag.Diagnostics) {
			running := inst
			running.Status = rental.StatusRunning
			(&settler{lacksSSH: true}).warnOfMissing(diags, running)
			diags.AddWarning("", missing(running))
		},
		"a rental": func(diags *diag.Diagnostics) {
			for _, err := range []error{
				&otherServer{inst: inst, key: hostile, difference: differs(server, plan)},
				&otherServer{inst: inst, key: hostile, difference: differs(rented{Instance: inst}, plan)},
				&foreignServer{holder: holder}, &foreignServer{holder: holder, own: holder, key: hostile, replayed: true},
				&noOfferLeft{last: &tooDearError{offerID: hostile}}, &noOfferLeft{last: &noInterruptibleError{hostile}}, &noOfferLeft{last: &refusedOffer{offerID: hostile}},
				&tooDearError{offerID: hostile}, &noInterruptibleError{hostile}, &unknownOutcome{key: hostile, random: true, err: errors.New("lost")},
				&refusedOffer{offerID: hostile}, &refusedOffer{offerID: hostile, state: offerGone}, &refusedOffer{offerID: hostile, state: offerDearer},
				&refusedOffer{offerID: hostile, state: offerUnrentable}, &refusedOffer{offerID: hostile, state: offerUnsure},
			} {
				addRentError(diags, err)
			}
			addUnreadable(diags, server)
			addDifferences(diags, server, model{})
			addOverpricedDestroyed(diags, server, plan)
			addOverpricedStopped(diags, server, plan)
			addOverpricedRuns(diags, server, plan, "stop", errors.New("refused"))
			addTakenOver(diags, server, plan)
			addNotReplaced(diags, plan)
		},
		"a plan": func(diags *diag.Diagnostics) {
			warnOfHigherPrice(diags, before, 1000)
			addCannotReplace(diags, path.Empty(), before, "", "")
			addReplacedForUnknown(diags, "replace_on", hostile)
			diags.AddWarning("", hardware{gpu: hostile}.misses(rental.OfferQuery{GPU: []string{"a"}}))
			diags.AddWarning("", hardware{country: &hostile}.misses(rental.OfferQuery{Country: []string{"a"}}))
			diags.AddWarning("", namesakesText(hostile, []rental.Instance{inst, inst}, hostile))
		},
		"an action": func(diags *diag.Diagnostics) {
			addHalted(diags, inst)
			addNotFound(diags, "start", hostile)
			addHopeless(diags, "start", inst, errGone, "")
			diags.AddWarning("", ended(inst, true))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			report(&diags)
			expectPlain(t, diags)
		})
	}
}

// An id that could be Terraform is in no import block, and the message says where to find it.
func TestNamesakesText_ImportBlockOnlyForAPlainID(t *testing.T) {
	for id, block := range map[string]bool{"ins_x7k2": true, `${file("/etc/passwd")}`: false, "%{if true}a%{endif}": false, "a\"\n}": false, "-a": false, "": false} {
		text := namesakesText("trainer", []rental.Instance{{ID: id}}, "")
		if got := strings.Contains(text, fmt.Sprintf("  import {\n    to = gpurent_instance.NAME\n    id = %q\n  }\n", id)); got != block || strings.Contains(text, "import {") != block {
			t.Errorf("%q: import block %t\n%s", id, got, text)
		}
		if strings.Contains(text, noImportBlock) == block {
			t.Errorf("%q: %s", id, text)
		}
	}
}
