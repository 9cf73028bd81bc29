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
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// The detail for every error code contains the message, the reference and a next step.
func TestAddAPIError_NextStep(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"unauthorized": {
			&rental.Error{Status: 401, Code: rental.CodeUnauthorized, Message: "No.", KeySource: "the variable K"},
			[]string{"Cannot create instance: ", ": 401 unauthorized: No.", "comes from the variable K"},
		},
		"funds": {
			&rental.Error{Status: 402, Code: rental.CodeInsufficientFunds, ShortKop: 123456},
			[]string{"1,234.56\u00a0₽", "Top up", "Nothing was rented"},
		},
		"email": {
			&rental.Error{Status: 403, Code: rental.CodeForbidden, Reason: rental.ReasonEmailNotVerified},
			[]string{"Confirm", "e-mail"},
		},
		"scope": {
			&rental.Error{Status: 403, Code: rental.CodeForbidden, Scope: rental.ScopeBillingRead, KeySource: "the variable K"},
			[]string{"lacks the scope billing:read", "comes from the variable K"},
		},
		"conflict":  {&rental.Error{Status: 409, Code: rental.CodeConflict}, []string{"limit", "plan"}},
		"not found": {&rental.Error{Status: 404, Code: rental.CodeNotFound}, []string{"another account"}},
		"rate":      {&rental.Error{Status: 429, Code: rental.CodeRateLimited}, []string{"-parallelism"}},
		"rate, for a day": {
			&rental.Error{Status: 429, Code: rental.CodeRateLimited, RetryAt: time.Now().Add(24 * time.Hour)},
			[]string{"Run again in 24h0m0s: the API accepts no requests before 2"},
		},
		"internal": {
			&rental.Error{Status: 500, Code: rental.CodeInternal, RequestID: "req_1"},
			[]string{"request id req_1", "Run again later"},
		},
		"unavailable": {&rental.Error{Status: 503, Code: rental.CodeProviderUnavailable}, []string{"Run again later"}},
		"a proxy":     {&rental.Error{Status: 502, Message: "Bad Gateway"}, []string{": 502: ", "a proxy in front of it"}},
		"no network": {
			&rental.Error{Message: "connection refused", Attempts: 4, Err: errors.New("refused")},
			[]string{"connection refused", "base_url"},
		},
		"given up": {
			&rental.Error{Message: "no answer", Unanswered: true, Err: errors.New("refused")},
			[]string{"no answer", "could not be reached", "Check base_url"},
		},
		"timeout": {&rental.Error{Message: "late", Err: context.DeadlineExceeded}, []string{"request_timeout"}},
		"lost response": {
			&rental.Error{Message: "cut", Attempts: 1, OutcomeUnknown: true, Err: errors.New("EOF")},
			[]string{"may or may not have been carried out"},
		},
		"lost response of the API": {
			&rental.Error{Status: 500, Code: rental.CodeInternal, OutcomeUnknown: true},
			[]string{"may or may not have been carried out"},
		},
		"interrupted": {&rental.Error{Err: context.Canceled}, []string{"was interrupted"}},
		"interrupted, lost response": {
			&rental.Error{Err: context.Canceled, OutcomeUnknown: true}, []string{"may or may not have been carried out"},
		},
		"not sent": {
			&rental.Error{Message: "no key", Err: errors.New("no key")}, []string{"no key", "No request was sent"},
		},
		"invalid": {
			&rental.Error{Status: 422, Code: rental.CodeValidation, Message: "Bad."}, []string{"Bad.", "Nothing was changed"},
		},
		"unreadable": {
			&rental.Error{Status: 200, Message: "the response is empty"}, []string{"the response is empty", "plan again"},
		},
		"a foreign 404": {
			&rental.Error{Status: 404, Foreign: true, Message: "Tea."},
			[]string{"Tea.", ": 404: ", "did not come from the API"},
		},
		"a redirect": {
			&rental.Error{Status: 302, Foreign: true, Message: "not followed"}, []string{"not followed", "base_url"},
		},
		"response lost by a proxy": {
			&rental.Error{Status: 502, Foreign: true, OutcomeUnknown: true, Message: "Bad Gateway"},
			[]string{": 502: ", "may or may not have been carried out", "not a response of the API"},
		},
		"with a context": {
			fmt.Errorf("reading offer o: %w", &rental.Error{Status: 500, Code: rental.CodeInternal, Message: "Oops."}),
			[]string{"reading offer o: ", ": 500 internal: Oops."},
		},
		"error of the provider": {errors.New("a bug"), []string{"a bug"}},
		"list too long": {
			tooLong(t), []string{"the list is too long", "base_url", "GET /instances"},
		},
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
			if strings.Contains(detail, "scope") != (name == "scope") {
				t.Errorf("a hint about scopes: %s", detail)
			}
			for _, want := range test.want {
				if !strings.Contains(detail, want) {
					t.Errorf("%q is not in: %s", want, detail)
				}
			}
			if notSent := strings.Contains(detail, "No request was sent"); notSent != (name == "not sent") {
				t.Errorf("no request was sent: %t", notSent)
			}
		})
	}
}

// tooLong returns the error of the client for a list that is too long.
func tooLong(t *testing.T) (err error) {
	t.Helper()
	client := rentaltest.Client(t, endless(new(int)))
	options := rental.ListOptions{MaxPages: 1}
	for _, err = range client.ListInstances(t.Context(), rental.ListInstancesQuery{ListOptions: options}) {
	}
	return err
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
