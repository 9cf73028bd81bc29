package tfkit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// AddAPIError reports that action ("create instance") failed, with the message of the API, its code and request id, and
// the next step. It reports an invalid field at the attribute of the same name, if attributes contains it.
func AddAPIError(diags *diag.Diagnostics, action Text, err error, attributes ...string) {
	AddAPIErrorAdvising(diags, Textf("Cannot %s", action), "", err, attributes...)
}

// AddAPIErrorAdvising is AddAPIError with a whole summary and a specific next step. An empty step selects the general
// one for the error's code.
func AddAPIErrorAdvising(diags *diag.Diagnostics, summary, nextStep Text, err error, attributes ...string) {
	detail := explain(err, nextStep)
	apiErr, ok := asAPIError(err)
	if ok && rental.IsUnauthorized(err) {
		summary, detail = "API key rejected", summary+": "+detail
	}
	if !ok {
		AddError(diags, summary, detail)
		return
	}
	issues := apiErr.Issues
	var others Text
	for _, issue := range issues[:min(len(issues), maxIssues)] {
		message := Text(rental.Printable(issue.Message, maxIssue))
		if at, ok := attributePath(issue.Field, attributes); ok {
			AddAttributeError(diags, at, summary, Textf("%s\n\n%s", message, err))
		} else {
			others += Textf("%s: %s\n", issue.Field, message)
		}
	}
	if more := len(issues) - maxIssues; more > 0 {
		others += Textf("… and %d more\n", more)
	}
	if len(issues) == 0 || others != "" {
		AddError(diags, summary, others+detail)
	}
}

// FieldErrors returns what the API wrote about single fields of a request, in one line; empty for nothing.
func FieldErrors(err error) (text Text) {
	apiErr, ok := asAPIError(err)
	if !ok {
		return ""
	}
	issues := apiErr.Issues
	for _, issue := range issues[:min(len(issues), maxIssues)] {
		text += Textf("; %s: %s", issue.Field, issue.Message)
	}
	return text
}

// ErrorDetail returns the detail of AddAPIError for a diagnostic with another summary.
func ErrorDetail(err error) Text {
	return explain(err, "")
}

// explain returns the detail for a failed request: the error, which has the API's message and the request id, and the
// next step.
func explain(err error, nextStep Text) Text {
	apiErr, ok := asAPIError(err)
	if !ok {
		return noResponse(err, nextStep)
	}
	detail := Textf("%s", err)
	if apiErr.ShortKop != 0 {
		detail += Textf("\nMissing: %s.", Rubles(apiErr.ShortKop))
	}
	return detail + "\n\n" + cmp.Or(nextStep, adviceFor(apiErr))
}

// Bounds of the part of a validation error in a diagnostic.
const (
	maxIssues = 5    // fields
	maxIssue  = 1000 // characters about one of them
)

// attributePath finds the attribute for a field of the API, which has the same name: "ports[0]" and "env.HOME" belong
// to "ports" and "env".
func attributePath(field string, attributes []string) (path.Path, bool) {
	root := field
	if i := strings.IndexAny(field, ".[/"); i > 0 {
		root = field[:i]
	}
	return path.Root(root), slices.Contains(attributes, root)
}

// noResponse returns the detail for failures without a response of the API.
func noResponse(err error, nextStep Text) Text {
	switch {
	case rental.IsOutcomeUnknown(err):
		return Textf("%s\n\n%s", err, cmp.Or(nextStep, checkFirst))
	case errors.Is(err, context.Canceled):
		return "The run was interrupted. Its changes so far remain. Run again to complete it."
	case errors.Is(err, context.DeadlineExceeded):
		return Textf("%s\n\nThe API did not respond in time. Run again. If this happens again, raise request_timeout in the "+
			"provider configuration or, after a wait for the request limit, run fewer applies at a time.", err)
	case rental.IsUnavailable(err):
		return Textf("%s\n\nThe API could not be reached, or answers only with errors. Check base_url, the network and the "+
			"proxy. If they are right, the service may be down: run again later. Changes so far remain.", err)
	}
	if refused, ok := errors.AsType[*rental.Error](err); ok && refused.Attempts == 0 {
		return Textf("%s\n\nNo request was sent. Correct the named value, then run again.", err)
	}
	return Textf("%s", err)
}

const (
	foreign = "This response did not come from the API, but from something in between, such as a proxy. Check " +
		"base_url and the proxy, then run again."
	checkFirst = "The request may or may not have been carried out. Run plan again to see the current state. After a " +
		"creation, first list what exists, for example with the data source gpurent_ssh_keys for SSH keys, and import it: " +
		"the next apply creates another."
)

// adviceFor returns the next step for an error response of the API.
func adviceFor(err *rental.Error) Text {
	switch {
	case err.OutcomeUnknown:
		return checkFirst
	case err.Foreign && err.Status < 500:
		return foreign
	}
	switch err.Code {
	case rental.CodeUnauthorized:
		return Textf("The key comes from %s. It is wrong, expired or revoked, or belongs to another service than base_url. "+
			"Replace it there, or remove it there and log in. For the credentials file, run \"terraform-provider-gpurent login "+
			"--replace\".", err.KeySource)
	case rental.CodeInsufficientFunds:
		return "The balance must cover two hours of a server before it starts. Top up the balance in the service's " +
			"console or choose a cheaper server, then run again. Nothing was rented or started by this request."
	case rental.CodeForbidden:
		if err.Reason == rental.ReasonEmailNotVerified {
			return "Confirm the account's e-mail address in the service's console, then run again."
		}
		return Textf("The API key lacks the scope %s, or the account is blocked. The key comes from %s. Use a key with "+
			"this scope, from a login or a gpurent_api_key.", err.Scope, err.KeySource)
	case rental.CodeConflict:
		return "The current state does not allow it: a price changed, a limit is reached, or the object is being deleted. " +
			"Run plan again to see the current state."
	case rental.CodeNotFound:
		return "It does not exist, or belongs to another account. Run plan again to see what exists. If it should exist, " +
			"check that the API key belongs to the right account."
	case rental.CodeValidation:
		return "Nothing was changed. Correct the named values, then run again."
	case rental.CodeRateLimited:
		return "The request limit of this key is used up, probably by other runs with the same key. " +
			whenToRetry(err, "in a minute") + " A lower -parallelism sends fewer requests at a time."
	}
	if err.Status >= 500 {
		return "The service, or a proxy in front of it, failed after all retries. " + whenToRetry(err, "later")
	}
	return "The response of the service cannot be used. Run plan again to see the result. If this happens again, check " +
		"that base_url is the address of the API."
}

// whenToRetry returns when to run again: when the API accepts requests again, or otherwise if that is unknown or within
// a minute.
func whenToRetry(err *rental.Error, otherwise Text) Text {
	wait := time.Until(err.RetryAt).Round(time.Second)
	if wait <= time.Minute {
		return Textf("Run again %s.", otherwise)
	}
	at := Time(err.RetryAt.Round(time.Second)).ValueString()
	return Textf("Run again in %s: the API accepts no requests before %s.", wait, at)
}
