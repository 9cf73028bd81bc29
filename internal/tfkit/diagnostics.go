package tfkit

import (
	"cmp"
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

// addUnknownOrigin reports that an object was not found, and that the state does not contain its account.
func addUnknownOrigin(diags *diag.Diagnostics, what Text) {
	AddError(diags, Summaryf(summaryOtherOrigin, what), "The state does not contain the account in which it was created, "+
		"because the provider was killed while it changed the object. "+originAdvice)
}

// originAdvice is what to do about an object that may belong to another account.
const originAdvice = "It may still exist and be billed, so it stays in the state. Set the API key and base_url of " +
	"its account, then run again. If it is really gone, run `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`) " +
	"with the address of this resource."

// addOtherOrigin reports that an object was created in another account, or at another address, than the API key and the
// address of this run belong to.
func addOtherOrigin(diags *diag.Diagnostics, what Text, created, now Origin) {
	text := Textf("It was created at %s, and this run uses %s.", created.BaseURL, now.BaseURL)
	if created.BaseURL == now.BaseURL {
		text = Textf("It belongs to the account %s, and the API key of this run to the account %s.", created.AccountID,
			now.AccountID)
	}
	AddError(diags, Summaryf(summaryOtherOrigin, what), text+" "+originAdvice)
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
