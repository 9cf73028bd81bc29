package tfkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The detail for every error code contains the message, the reference and a next step.
func TestAddAPIError_NextStep(t *testing.T) {
	type apiErr = rental.Error
	const unknown = "may or may not have been carried out"
	refused := errors.New("refused")
	tomorrow := time.Now().Add(24 * time.Hour)
	for name, test := range map[string]struct {
		err  error
		want string // texts, separated by bars
	}{
		"unauthorized": {
			&apiErr{Status: 401, Code: rental.CodeUnauthorized, Message: "No.", KeySource: "the variable K"},
			"Cannot create instance: |: 401 unauthorized: No.|comes from the variable K",
		},
		"funds": {
			&apiErr{Status: 402, Code: rental.CodeInsufficientFunds, ShortKop: 123456},
			"1,234.56\u00a0₽|Top up|Nothing was rented",
		},
		"email": {
			&apiErr{Status: 403, Code: rental.CodeForbidden, Reason: rental.ReasonEmailNotVerified}, "Confirm|e-mail",
		},
		"scope": {
			&apiErr{Status: 403, Code: rental.CodeForbidden, Scope: rental.ScopeBillingRead, KeySource: "the variable K"},
			"lacks the scope billing:read|comes from the variable K",
		},
		"conflict":  {&apiErr{Status: 409, Code: rental.CodeConflict}, "limit|plan"},
		"not found": {&apiErr{Status: 404, Code: rental.CodeNotFound}, "another account"},
		"invalid":   {&apiErr{Status: 422, Code: rental.CodeValidation, Message: "Bad."}, "Bad.|Nothing was changed"},
		"rate":      {&apiErr{Status: 429, Code: rental.CodeRateLimited}, "-parallelism"},
		"rate, for a day": {
			&apiErr{Status: 429, Code: rental.CodeRateLimited, RetryAt: tomorrow},
			"Run again in 24h0m0s: the API accepts no requests before 2",
		},
		"internal": {
			&apiErr{Status: 500, Code: rental.CodeInternal, RequestID: "req_1"}, "request id req_1|Run again later",
		},
		"unavailable":    {&apiErr{Status: 503, Code: rental.CodeProviderUnavailable}, "Run again later"},
		"a proxy":        {&apiErr{Status: 502, Message: "Bad Gateway"}, ": 502: |a proxy in front of it"},
		"no network":     {&apiErr{Message: "no port", Attempts: 4, Err: refused}, "no port|base_url"},
		"given up":       {&apiErr{Message: "no answer", Unanswered: true, Err: refused}, "no answer|reached|Check base_url"},
		"timeout":        {&apiErr{Message: "late", Err: context.DeadlineExceeded}, "request_timeout"},
		"lost response":  {&apiErr{Message: "cut", Attempts: 1, OutcomeUnknown: true, Err: refused}, unknown},
		"interrupted":    {&apiErr{Err: context.Canceled}, "was interrupted"},
		"both":           {&apiErr{Err: context.Canceled, OutcomeUnknown: true}, unknown},
		"not sent":       {&apiErr{Message: "no key", Err: refused}, "no key|No request was sent"},
		"unreadable":     {&apiErr{Status: 200, Message: "the response is empty"}, "the response is empty|plan again"},
		"a foreign 404":  {&apiErr{Status: 404, Foreign: true, Message: "Tea."}, "Tea.|: 404: |did not come from the API"},
		"a redirect":     {&apiErr{Status: 302, Foreign: true, Message: "not followed"}, "not followed|base_url"},
		"lost by an API": {&apiErr{Status: 500, Code: rental.CodeInternal, OutcomeUnknown: true}, unknown},
		"lost by a proxy": {
			&apiErr{Status: 502, Foreign: true, OutcomeUnknown: true}, ": 502: |not a response of the API|" + unknown,
		},
		"with a context": {
			fmt.Errorf("reading offer o: %w", &apiErr{Status: 500, Code: rental.CodeInternal, Message: "Oops."}),
			"reading offer o: |: 500 internal: Oops.",
		},
		"error of the provider": {errors.New("a bug"), "a bug"},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			AddAPIError(&diags, "create instance", test.err)
			summary := "Cannot create instance"
			if name == "unauthorized" {
				summary = "API key rejected"
			}
			if len(diags) != 1 || diags[0].Summary() != summary {
				t.Fatalf("got %v", diags)
			}
			detail := diags[0].Detail()
			for want := range strings.SplitSeq(test.want, "|") {
				if !strings.Contains(detail, want) {
					t.Errorf("%q is not in: %s", want, detail)
				}
			}
			for text, only := range map[string]string{"scope": "scope", "No request was sent": "not sent"} {
				if strings.Contains(detail, text) != (name == only) {
					t.Errorf("only %q contains %q: %s", only, text, detail)
				}
			}
		})
	}
}

func TestAddAPIError_AttributeIssues(t *testing.T) {
	err := &rental.Error{Status: 422, Code: rental.CodeValidation, Message: "Invalid input", Issues: []rental.Issue{
		{Field: "disk_gb", Message: "too small"}, {Field: "ports[3]", Message: "too high"},
		{Field: "onstart", Message: "not supported"},
	}}
	var diags diag.Diagnostics
	AddAPIError(&diags, "create instance", err, "disk_gb", "ports")
	if len(diags) != 3 || !strings.Contains(diags[2].Detail(), "onstart: not supported") {
		t.Fatalf("got %d diagnostics: %v", len(diags), diags)
	}
	for i, at := range []string{"disk_gb", "ports"} {
		placed, ok := diags[i].(diag.DiagnosticWithPath)
		if !ok || !placed.Path().Equal(path.Root(at)) || !strings.Contains(diags[i].Detail(), err.Issues[i].Message) {
			t.Errorf("diagnostic %d is %v, want it at %s", i, diags[i], at)
		}
	}
}
