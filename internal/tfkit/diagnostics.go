package tfkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// AddError reports err, which kept the provider from doing action ("create
// instance"), in the one grammar all errors have: what could not be done, what
// the service said, its code and request id, and what to do next.
//
// Fields that a validation error names land on the attribute of the same name
// where attributes lists it.
func AddError(diags *diag.Diagnostics, action string, err error, attributes ...string) {
	AddErrorAdvising(diags, action, "", err, attributes...)
}

// AddErrorAdvising is AddError with a next step that fits better than the
// general one for the error's code. Empty leaves the general one.
func AddErrorAdvising(diags *diag.Diagnostics, action, nextStep string, err error, attributes ...string) {
	summary := "Cannot " + rental.Printable(action, maxAction)
	var apiErr *rental.Error
	if !errors.As(err, &apiErr) || apiErr.Status == 0 {
		diags.AddError(summary, plainDetail(err))
		return
	}
	issues := apiErr.Issues()
	var rest []string
	for _, issue := range issues[:min(len(issues), maxIssues)] {
		message := rental.Printable(issue.Message, maxIssue)
		if at, ok := attributePath(issue.Field, attributes); ok {
			diags.AddAttributeError(at, summary, message+"\n\n"+reference(apiErr))
		} else {
			rest = append(rest, OneLine(issue.Field)+": "+message+"\n")
		}
	}
	if more := len(issues) - maxIssues; more > 0 {
		rest = append(rest, fmt.Sprintf("… and %d more\n", more))
	}
	if len(issues) == 0 || len(rest) > 0 {
		diags.AddError(summary, strings.Join(rest, "")+apiDetail(err, apiErr, nextStep))
	}
}

// Bounds of what a diagnostic takes over from an answer.
const (
	maxAction = 300  // characters of what could not be done, with the id that it was done to
	maxIssues = 20   // fields of a validation error
	maxIssue  = 1000 // characters about one of them
)

// Plain makes lines of the service safe to show in a terminal: control
// characters, which could move the cursor or change colours, become spaces.
// The texts of a rental.Error are safe already, and MakePlain sees to diagnostics.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, text)
}

// MakePlain makes all diagnostics safe to show in a terminal, whatever texts of
// the service have found their way into them. Defer it.
func MakePlain(diags *diag.Diagnostics) {
	for i, d := range *diags {
		summary, detail := Plain(d.Summary()), Plain(d.Detail())
		if summary == d.Summary() && detail == d.Detail() {
			continue
		}
		var plain diag.Diagnostic = diag.NewErrorDiagnostic(summary, detail)
		if d.Severity() == diag.SeverityWarning {
			plain = diag.NewWarningDiagnostic(summary, detail)
		}
		if at, ok := d.(diag.DiagnosticWithPath); ok {
			plain = diag.WithPath(at.Path(), plain)
		}
		(*diags)[i] = plain
	}
}

// attributePath finds the attribute for a field of the API, whose names are the
// same; "ports[0]" and "env.HOME" belong to "ports" and "env".
func attributePath(field string, attributes []string) (path.Path, bool) {
	root := field
	if i := strings.IndexAny(field, ".[/"); i > 0 {
		root = field[:i]
	}
	return path.Root(root), slices.Contains(attributes, root)
}

// plainDetail is for failures without an answer of the service.
func plainDetail(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "Interrupted. What was done before that stays done; run again for the rest."
	case rental.IsOutcomeUnknown(err):
		return err.Error() + "\n\n" + lookFirst
	case errors.Is(err, context.DeadlineExceeded):
		return err.Error() + "\n\nThe service did not answer in time. Run again; if it goes on, raise request_timeout in the provider configuration."
	case rental.IsUnavailable(err):
		return err.Error() + "\n\nThe service could not be reached. Check base_url and the network, then run again: what is done already stays done."
	}
	if refused, ok := errors.AsType[*rental.Error](err); ok && refused.Attempts == 0 {
		return err.Error() + "\n\nNothing was sent to the service. Correct what the message names, then run again."
	}
	return err.Error()
}

// foreign is the next step after an answer with a status or a code that the service does not use.
const foreign = "This answer did not come from the service. Does base_url lead to the service? A proxy or gateway may have answered."

// lookFirst is the next step when nobody knows what became of a request.
const lookFirst = "The service may have done it. Look in the service's console before running again, and import or remove what is there."

// apiDetail tells what the service said, with what else err says around it.
func apiDetail(whole error, err *rental.Error, nextStep string) string {
	message := err.Message
	if before, after, ok := strings.Cut(whole.Error(), err.Error()); ok {
		message = before + message + after
	}
	if short, ok := err.ShortKop(); ok {
		message += fmt.Sprintf("\nMissing: %s.", Rubles(short))
	}
	detail := message + "\n\n" + reference(err)
	if nextStep == "" {
		nextStep = advice(err)
	}
	return strings.TrimSpace(detail + "\n\n" + nextStep)
}

// reference is what support asks for.
func reference(err *rental.Error) string {
	parts := []string{fmt.Sprintf("HTTP %d", err.Status)}
	if err.Code != "" {
		parts = append([]string{err.Code}, parts...)
	}
	if err.RequestID != "" {
		parts = append(parts, "request id "+err.RequestID)
	}
	return fmt.Sprintf("(%s %s: %s)", err.Method, err.Path, strings.Join(parts, ", "))
}

// advice is the next step. It branches on the code, never on the message.
func advice(err *rental.Error) string {
	switch {
	case err.OutcomeUnknown && err.Foreign:
		return foreign + " " + lookFirst
	case err.OutcomeUnknown:
		return lookFirst
	case err.Foreign && err.Status < 500:
		return foreign
	}
	switch err.Code {
	case rental.CodeUnauthorized:
		return "The API key is wrong, expired or revoked. Check api_key, GPURENT_API_KEY or the credentials file, and that the key belongs to this base_url; " +
			"or get a new one with \"terraform-provider-gpurent login\"."
	case rental.CodeInsufficientFunds:
		return "A start needs money for two hours. Top up in the service's console, or choose a cheaper server; then run again. Nothing was rented or started."
	case rental.CodeForbidden:
		if err.Reason() == rental.ReasonEmailNotVerified {
			return "Confirm the account's e-mail address in the service's console, then run again."
		}
		return fmt.Sprintf("The API key lacks the scope %s, or the account is blocked. Issue a key with the scope in the service's console, or ask its support about the account.", cmp.Or(err.Scope, "it needs"))
	case rental.CodeConflict:
		return "The service does not allow this in the present state: a price changed, a limit is reached, or the thing is already on its way out. Run plan again to see where it stands."
	case rental.CodeNotFound:
		return "It does not exist (any more), or belongs to another account. Run plan again to see what is there; if it should be, check that the API key is the right account's."
	case rental.CodeValidation:
		return "Nothing was changed. Correct what the message names, then run again."
	case rental.CodeRateLimited:
		return "The request limit of this key is used up, probably shared with other runs. Run again in a minute, with a lower -parallelism."
	case rental.CodeInternal, rental.CodeProviderUnavailable:
		return "The service has trouble of its own, and retrying did not help. Run again later; the request id helps its support."
	}
	switch {
	case err.Status >= 500:
		return "The service, or something before it, has trouble of its own, and retrying did not help. Run again later."
	case rental.IsListTooLong(err):
		return "The provider does not read longer lists, which bounds its memory and its requests. If the account has so many entries, split it into several accounts. " +
			"Otherwise check that base_url leads to the service itself."
	case err.Status/100 == 2:
		return "The service took the request, but its answer cannot be used. Run plan again to see what came of it; if it goes on, check that base_url leads to the service itself."
	}
	return ""
}
