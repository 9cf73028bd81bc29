package tfkit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Summaries of diagnostics.
const (
	summaryCannot              = "Cannot %s"
	summaryConfigUnknown       = "Provider configuration is unknown"
	summaryNotConfigured       = "Provider not configured"
	summaryMissingKey          = "Missing API key"
	summaryCannotImportUnknown = "Cannot import: the provider configuration is unknown"
	summaryEmptyImportID       = "Empty import id"
	summaryNotRefreshed        = "Not refreshed"
	summarySkipped             = "Some %s cannot be read"
	summarySeveralNamed        = "Several %ss have this name"
	summarySeveralWith         = "Several %ss have this %s"
	summaryNoneWith            = "No %s with this %s"
	summaryNotADuration        = "Not a duration"
	summaryOtherOrigin         = "Cannot find %s in this account"
	summaryMissing             = "Objects no longer exist"
	summaryUnchecked           = "New resources were not checked"
	summaryInvalidValue        = "Invalid Attribute Value"
)

// Headings of the error reference for failed requests without an error code of the API. An error code is a heading of
// its own.
const (
	entryInterrupted    = "Interrupted request"
	entryOutcomeUnknown = "Outcome unknown"
	entryNoResponse     = "No response in time"
	entryUnreachable    = "API not reachable"
	entryRefused        = "Refused before sending"
	entryForeign        = "Response of a proxy"
	entryServerError    = "Server error without a code"
	entryListTooLong    = "List too long"
	entryUnusable       = "Unusable response"
	entryOther          = "API errors"
)

// AddAPIError reports that action ("create instance") failed, with the message of the API, its code and request id, and
// the next step. It reports an invalid field at the attribute of the same name, if attributes contains it.
func AddAPIError(diags *diag.Diagnostics, action Text, err error, attributes ...string) {
	AddAPIErrorAdvising(diags, action, "", err, attributes...)
}

// AddAPIErrorAdvising is AddAPIError with a specific next step. An empty one selects the general step for the error's
// code.
func AddAPIErrorAdvising(diags *diag.Diagnostics, action, nextStep Text, err error, attributes ...string) {
	entry, detail := explain(err, nextStep)
	summary := Summaryf(summaryCannot, action).of(entry)
	apiErr, ok := asAPIError(err)
	if !ok {
		AddError(diags, summary, detail)
		return
	}
	issues := apiErr.Issues()
	var others Text
	for _, issue := range issues[:min(len(issues), maxIssues)] {
		message := Text(rental.Printable(issue.Message, maxIssue))
		if at, ok := attributePath(issue.Field, attributes); ok {
			AddAttributeError(diags, at, summary, message+"\n\n"+reference(apiErr))
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
	issues := apiErr.Issues()
	for _, issue := range issues[:min(len(issues), maxIssues)] {
		text += Textf("; %s: %s", issue.Field, issue.Message)
	}
	return text
}

// ErrorDetail returns the detail of AddAPIError for a diagnostic with another summary.
func ErrorDetail(err error) Text {
	_, detail := explain(err, "")
	return detail
}

// explain returns the detail for a failed request, and the heading of its entry in the error reference.
func explain(err error, nextStep Text) (entry string, detail Text) {
	apiErr, ok := asAPIError(err)
	if !ok {
		return noResponse(err)
	}
	entry, general := adviceFor(apiErr)
	return entry, responseDetail(err, apiErr, cmp.Or(nextStep, general))
}

// Bounds of the part of a validation error in a diagnostic.
const (
	maxIssues = 20   // fields
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

// noResponse returns the heading and the detail for failures without a response of the API.
func noResponse(err error) (entry string, detail Text) {
	switch {
	case errors.Is(err, context.Canceled):
		return entryInterrupted, "The run was interrupted. Its changes so far remain. Run again to complete it."
	case rental.IsOutcomeUnknown(err):
		return entryOutcomeUnknown, Textf("%s\n\n%s", err, checkFirst)
	case errors.Is(err, context.DeadlineExceeded):
		return entryNoResponse, Textf("%s\n\nThe API did not respond in time. Run again. If this happens again, "+
			"raise request_timeout in "+
			"the provider configuration.", err)
	case rental.IsUnavailable(err):
		return entryUnreachable, Textf("%s\n\nThe API could not be reached. Check base_url, the network and the "+
			"proxy, then run again. "+
			"Changes so far remain.", err)
	}
	if refused, ok := errors.AsType[*rental.Error](err); ok && refused.Attempts == 0 {
		return entryRefused, Textf("%s\n\nNo request was sent. Correct the named value, then run again.", err)
	}
	return entryUnusable, Textf("%s", err)
}

const (
	foreign = "This response did not come from the API, but from something in between, such as a proxy or a load " +
		"balancer. Check that base_url is the address of the API. If it is, run again later."
	checkFirst = "The request may or may not have been carried out. Check in the service's console before you run " +
		"again, and import or remove what exists."
)

// responseDetail is the detail for an error response of the API: its message with the text that whole adds to it, a
// reference for support, and the next step.
func responseDetail(whole error, err *rental.Error, nextStep Text) Text {
	message := err.Message
	if before, after, ok := strings.Cut(whole.Error(), err.Error()); ok {
		message = before + message + after
	}
	detail := Text(rental.Printable(message, maxError))
	if short, ok := err.ShortKop(); ok {
		detail += Textf("\nMissing: %s.", Rubles(short))
	}
	detail += "\n\n" + reference(err)
	return Text(strings.TrimSpace(string(detail + "\n\n" + nextStep)))
}

// reference identifies a request for support.
func reference(err *rental.Error) Text {
	code, id := Text(""), Text("")
	if err.Code != "" {
		code = Textf("%s, ", err.Code)
	}
	if err.RequestID != "" {
		id = Textf(", request id %s", err.RequestID)
	}
	return Textf("(%s %s: %sHTTP %d%s)", err.Method, err.Path, code, err.Status, id)
}

// adviceFor returns the heading and the next step for an error response of the API.
func adviceFor(err *rental.Error) (entry string, nextStep Text) {
	switch {
	case err.OutcomeUnknown && err.Foreign:
		return entryOutcomeUnknown, foreign + " " + checkFirst
	case err.OutcomeUnknown:
		return entryOutcomeUnknown, checkFirst
	case err.Foreign && err.Status < 500:
		return entryForeign, foreign
	}
	if nextStep = adviceForCode(err); nextStep != "" {
		return err.Code, nextStep
	}
	switch {
	case err.Status >= 500:
		return entryServerError, "The service, or a proxy in front of it, failed after all retries. Run again later."
	case rental.IsListTooLong(err):
		return entryListTooLong, "The provider does not read longer lists, to limit its memory and its requests. If the " +
			"account has so many entries, use several accounts. Otherwise check that base_url is the address of the API."
	case err.Status/100 == 2:
		return entryUnusable, "The service accepted the request, but its response cannot be used. Run plan again to see " +
			"the result. If this happens again, check that base_url is the address of the API."
	}
	return entryOther, ""
}

// adviceForCode returns the next step for an error code, and nothing for the codes of a login and unknown codes.
func adviceForCode(err *rental.Error) Text {
	switch err.Code {
	case rental.CodeUnauthorized:
		return "The API key is wrong, expired or revoked. Check api_key, GPURENT_API_KEY or the credentials file, and " +
			"that the key belongs to this base_url, or get a new key with \"terraform-provider-gpurent login\"."
	case rental.CodeInsufficientFunds:
		return "The balance must cover two hours of a server before it starts. Top up the balance in the service's " +
			"console or choose a cheaper server, then run again. Nothing was rented or started."
	case rental.CodeForbidden:
		if err.Reason() == rental.ReasonEmailNotVerified {
			return "Confirm the account's e-mail address in the service's console, then run again."
		}
		return Textf("The API key lacks the scope %s, or the account is blocked. Create a key with the scope in the "+
			"service's console, or contact its support about the account.", cmp.Or(err.Scope, "it needs"))
	case rental.CodeConflict:
		return "The current state does not allow it: a price changed, a limit is reached, or the object is being deleted. " +
			"Run plan again to see the current state."
	case rental.CodeNotFound:
		return "It does not exist, or belongs to another account. Run plan again to see what exists. If it should exist, " +
			"check that the API key belongs to the right account."
	case rental.CodeValidation:
		return "Nothing was changed. Correct the named values, then run again."
	case rental.CodeRateLimited:
		return "The request limit of this key is used up, probably by other runs with the same key. Run again in a " +
			"minute, with a lower -parallelism."
	case rental.CodeInternal, rental.CodeProviderUnavailable:
		return "The service failed after all retries. Run again later. The service's support can use the request id."
	}
	return ""
}

// addConfigUnknown reports that an operation needs a provider configuration that is not known yet. early is the
// operation, such as "a data source is read". later is what moves it to the apply, empty if nothing does.
func addConfigUnknown(diags *diag.Diagnostics, early, later Text) {
	if later != "" {
		later = ", or " + later + ", which moves it to the apply"
	}
	AddError(diags, Summaryf(summaryConfigUnknown),
		Textf("base_url or api_key of the provider depends on a resource that this "+
			"run has not created yet, and %s before that. First apply that resource with -target%s.", early, later))
}

func addNotConfigured(diags *diag.Diagnostics, data any) {
	AddError(diags, Summaryf(summaryNotConfigured),
		Textf("Expected *tfkit.Meta, got %T. This is a bug in the provider. Please report it.", data))
}

func addMissingKey(diags *diag.Diagnostics) {
	AddError(diags, Summaryf(summaryMissingKey),
		"This needs an API key. Log in with \"terraform-provider-gpurent login\", which "+
			"stores a key in the credentials file (credentials.json in the gpurent folder of your user configuration). Or "+
			"create a key in the service's console and set the provider argument api_key or the environment variable "+
			"GPURENT_API_KEY.")
}

func addCannotImportUnknown(diags *diag.Diagnostics) {
	AddError(diags, Summaryf(summaryCannotImportUnknown),
		"base_url or api_key of the provider is known only after apply, so the "+
			"object cannot be read. Nothing was imported. First apply the resource that the provider configuration depends on "+
			"(-target), then import.")
}

func addEmptyImportID(diags *diag.Diagnostics, typeName string) {
	AddError(diags, Summaryf(summaryEmptyImportID),
		Textf("To import a gpurent_%s, set the id of an existing one. The given id is empty. No request was sent.", typeName))
}

func addNotRefreshed(diags *diag.Diagnostics) {
	AddWarning(diags, Summaryf(summaryNotRefreshed),
		"base_url or api_key of the provider depends on a resource that this run "+
			"has not created yet, so the object was not read. The plan uses the values of the state.")
}

// addOtherOrigin reports that an object was created in another account, or at another address, than the API key and the
// address of this run belong to.
func addOtherOrigin(diags *diag.Diagnostics, what Text, created, now Origin) {
	text := Textf("It was created at %s, and this run uses %s.", created.BaseURL, now.BaseURL)
	if created.BaseURL == now.BaseURL {
		text = Textf("It belongs to the account %s, and the API key of this run to the account %s.", created.AccountID,
			now.AccountID)
	}
	AddError(diags, Summaryf(summaryOtherOrigin, what), text+" It may still exist and be billed, so it stays in the "+
		"state. Set the API key and base_url of its account, then run again. If it is really gone, run "+
		"`terraform state rm ADDRESS` (or `tofu state rm ADDRESS`) with the address of this resource.")
}

// maxMissing is the maximum number of ids of a kind in the warning.
const maxMissing = 100

// missingText describes objects of a kind.
func missingText(kind Text, ids []string) Text {
	names := make([]Text, 0, len(ids))
	for _, id := range ids[:min(len(ids), maxMissing)] {
		names = append(names, Textf("%s", id))
	}
	text := Textf("%d %ss no longer exist: ", len(ids), kind)
	if len(ids) == 1 {
		text = Textf("1 %s no longer exists: ", kind)
	}
	text += join(names, ", ")
	if more := len(ids) - len(names); more > 0 {
		text += Textf(" and %d more", more)
	}
	return text + ".\n"
}

func addUnchecked(diags *diag.Diagnostics, err error) {
	AddWarning(diags, Summaryf(summaryUnchecked), Textf("%s\n\nThe plan could not check the templates, the offers, the "+
		"names and the balance for the new resources of this configuration. An apply does not succeed until the API can be "+
		"reached: check base_url, the network and the proxy, then plan again.", err))
}

func addMissing(diags *diag.Diagnostics, all Text) {
	AddWarning(diags, Summaryf(summaryMissing), all+"The API returned \"not found\" or \"destroyed\" for them. They "+
		"leave the state. The plan creates again what the configuration contains.")
}

func addNotADuration(diags *diag.Diagnostics, at path.Path, description Text) {
	AddAttributeError(diags, at, Summaryf(summaryNotADuration),
		Textf("The value of %s is not %s.", at.String(), description))
}

// addInvalidValue has the summary of the errors of the framework's validators.
func addInvalidValue(diags *diag.Diagnostics, at path.Path, description Text) {
	AddAttributeError(diags, at, Summaryf(summaryInvalidValue), Textf("Attribute %s %s.", at.String(), description))
}

// addSkipped names the entries of a list that cannot be read.
func addSkipped(diags *diag.Diagnostics, kind Text, entries []rental.Skipped) {
	var lines Text
	for _, entry := range entries[:min(len(entries), maxListed)] {
		lines += Textf("\n  %s: %s", cmp.Or(entry.ID, "without an id"), entry.Err)
	}
	AddWarning(diags, Summaryf(summarySkipped, kind), Textf("The list of the API has %d entries that this version of the "+
		"provider cannot read. They were left out:%s%s\n\nUpdate the provider if there is a newer version, or contact the "+
		"service's support.", len(entries), lines, andMore("\n  ", len(entries))))
}

// addSeveralNamed reports that several objects have a name.
func addSeveralNamed(diags *diag.Diagnostics, l Lookup, matches []Named) {
	lines := linesOf(matches, func(n Named) Text { return Textf("%s", n.Key) })
	AddAttributeError(diags, path.Root(argumentName), Summaryf(summarySeveralNamed, l.Kind),
		Textf("Set %s instead of name, or make the name unique:%s", l.Key, lines))
}

// addSeveralWithKey reports that several objects have a key.
func addSeveralWithKey(diags *diag.Diagnostics, l Lookup, matches []Named) {
	lines := linesOf(matches, func(n Named) Text { return quote(n.Name) })
	AddAttributeError(diags, path.Root(l.Key), Summaryf(summarySeveralWith, l.Kind, l.Key),
		Textf("Set name instead of %s. If the names are also equal, delete each %s that you do not need:%s", l.Key, l.Kind,
			lines))
}

// linesOf returns a line for each object, with its label and its note.
func linesOf(objects []Named, label func(Named) Text) Text {
	var lines Text
	for _, object := range objects[:min(len(objects), maxListed)] {
		lines += "\n  " + label(object)
		if object.Note != "" {
			lines += Textf(" (%s)", object.Note)
		}
	}
	return lines + andMore("\n  ", len(objects))
}

// mayBeSkipped is the hint for an object without a match in a list that has entries that cannot be read.
const mayBeSkipped Text = "It may be one of the entries of the list that cannot be read, which a warning names."

// addNoneFound reports that no object has a value of an argument.
func addNoneFound(diags *diag.Diagnostics, l Lookup, argument, value string, hint Text, objects []Named) {
	var detail Text
	switch other, object, ok := l.other(argument, value, objects); {
	case ok && l.KeyOnly:
		detail = Textf("It is the %s of one: set %s to %s.\n\n", other, argument, quote(object.Key))
	case ok:
		detail = Textf("It is the %s of one: set %s instead of %s.\n\n", other, other, argument)
	}
	var names []Text
	for _, object := range objects[:min(len(objects), maxListed)] {
		name := Textf("%s", object.Key)
		switch {
		case object.Key == "":
			name = quote(object.Name)
		case object.Name != "":
			name = Textf("%s (%s)", object.Key, quote(object.Name))
		}
		names = append(names, name)
	}
	switch {
	case len(objects) > 0:
		detail += Textf("Existing: %s%s. The data source %s lists all of them.\n\n", join(names, ", "),
			andMore(", ", len(objects)), l.List)
	case hint != mayBeSkipped:
		detail += Textf("The list of the API contains no %s.\n\n", l.Kind)
	}
	detail = Text(strings.TrimSpace(string(detail + hint)))
	AddAttributeError(diags, path.Root(argument), Summaryf(summaryNoneWith, l.Kind, argument), detail)
}

// maxQuoted is how many characters of a text quote shows, each of which may be escaped.
const maxQuoted = 100

// quote escapes invisible characters, such as a no-break space: they may be why two names differ.
func quote(text string) Text {
	if runes := []rune(text); len(runes) > maxQuoted {
		text = string(runes[:maxQuoted]) + "…"
	}
	return Text(strconv.Quote(text))
}

func join(texts []Text, separator Text) Text {
	var joined Text
	for i, text := range texts {
		if i > 0 {
			joined += separator
		}
		joined += text
	}
	return joined
}
