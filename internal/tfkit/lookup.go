package tfkit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"
)

// lookupName is the other argument of every Lookup.
const lookupName = "name"

// Lookup is how a data source finds one thing: by what names it without doubt, or
// by its name, which others may bear as well.
type Lookup struct {
	// Noun is what is looked for, for example "template".
	Noun string
	// Key is the argument that names one without doubt, for example "slug".
	Key string
}

// Named is one of the things that a look-up goes through, as a message tells of it.
type Named struct {
	// Key is the value of the look-up's Key.
	Key string
	// Name is empty for a thing without one.
	Name string
	// Note tells it from others of the same name, for example "running".
	Note string
}

// Attributes adds the look-up's two arguments, of which exactly one is to be given.
func (l Lookup) Attributes(attributes map[string]schema.Attribute, key, name string) {
	attributes[l.Key] = schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: key,
		Validators: []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.ExactlyOneOf(path.MatchRoot(l.Key), path.MatchRoot(lookupName))},
	}
	attributes[lookupName] = schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: name,
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
	}
}

// Sought returns the argument that was given; the other one is empty.
func (l Lookup) Sought(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) (key, name string) {
	var keyValue, nameValue types.String
	diags.Append(config.GetAttribute(ctx, path.Root(l.Key), &keyValue)...)
	diags.Append(config.GetAttribute(ctx, path.Root(lookupName), &nameValue)...)
	return keyValue.ValueString(), nameValue.ValueString()
}

// SameName says whether two names are the same text, however its letters are
// composed: Terraform composes those of a configuration, and others may not.
func SameName(one, other string) bool { return norm.NFC.String(one) == norm.NFC.String(other) }

// NameHasPrefix says whether a name begins with a text, in the same sense.
func NameHasPrefix(name, prefix string) bool {
	return strings.HasPrefix(norm.NFC.String(name), norm.NFC.String(prefix))
}

// ByName returns which of the things has a name. That none has it, or that several
// have, is an error which tells what there is; hint, if any, says where else it may be.
func (l Lookup) ByName(diags *diag.Diagnostics, name, hint string, among []Named) (index int, ok bool) {
	var told []string
	for i, thing := range among {
		if SameName(thing.Name, name) {
			index, told = i, append(told, "\n  "+thing.noted())
		}
	}
	switch len(told) {
	case 0:
		l.none(diags, lookupName, "is named", name, hint, among)
		return 0, false
	case 1:
		return index, true
	}
	diags.AddAttributeError(path.Root(lookupName), fmt.Sprintf("Several %ss are named %s", l.Noun, quote(name)),
		fmt.Sprintf("Give the %s of one instead of the name:%s%s", l.Key, strings.Join(told[:min(len(told), maxTold)], ""), andMore("\n  ", len(told))))
	return 0, false
}

// NoneFound reports that nothing has the wanted key, and tells what there is, what is
// most like it first.
func (l Lookup) NoneFound(diags *diag.Diagnostics, key, hint string, among []Named) {
	l.none(diags, l.Key, "has the "+l.Key, key, hint, among)
}

// none is NoneFound for either argument; has is what nothing does.
func (l Lookup) none(diags *diag.Diagnostics, argument, has, wanted, hint string, among []Named) {
	var detail strings.Builder
	if other, ok := l.misplaced(argument, wanted, among); ok {
		fmt.Fprintf(&detail, "It is the %s of one: set %s instead of %s.\n\n", other, other, argument)
	}
	if len(among) == 0 {
		fmt.Fprintf(&detail, "There is no %s at all.", l.Noun)
	} else {
		fmt.Fprintf(&detail, "There are: %s%s.", strings.Join(nearest(wanted, among), ", "), andMore(", ", len(among)))
	}
	if hint != "" {
		detail.WriteString("\n\n" + hint)
	}
	diags.AddAttributeError(path.Root(argument), fmt.Sprintf("No %s %s %s", l.Noun, has, quote(wanted)), detail.String())
}

// misplaced says whether something was given as a name that is a key, or the other
// way round, and what it is.
func (l Lookup) misplaced(argument, wanted string, there []Named) (other string, ok bool) {
	other = lookupName
	if argument == lookupName {
		other = l.Key
	}
	return other, slices.ContainsFunc(there, func(n Named) bool {
		return other == l.Key && n.Key == wanted || other == lookupName && SameName(n.Name, wanted)
	})
}

// maxTold is how many things a message names.
const maxTold = 10

// andMore counts those of all that are not told.
func andMore(separator string, all int) string {
	if all <= maxTold {
		return ""
	}
	return fmt.Sprintf("%s… and %d more", separator, all-maxTold)
}

// called is the thing by its key and its name.
func (n Named) called() string {
	if n.Name == "" {
		return OneLine(n.Key)
	}
	return fmt.Sprintf("%s (%s)", OneLine(n.Key), quote(n.Name))
}

// noted is the thing by its key and what tells it from others of its name.
func (n Named) noted() string {
	if n.Note == "" {
		return OneLine(n.Key)
	}
	return fmt.Sprintf("%s (%s)", OneLine(n.Key), OneLine(n.Note))
}

// maxQuoted is how many characters of a text are quoted, each of which can take several characters then.
const maxQuoted = 100

// shortened cuts a text off at maxQuoted, and ends it so.
func shortened(text, end string) string {
	if runes := []rune(text); len(runes) > maxQuoted {
		return string(runes[:maxQuoted]) + end
	}
	return text
}

// onOneLine is OneLine for a text of any length.
func onOneLine(text string) string { return strings.ReplaceAll(Plain(text), "\n", " ") }

// quote also shows what cannot be seen, such as a no-break space: it may be why two
// names differ.
func quote(text string) string {
	return fmt.Sprintf("%q", shortened(text, "…"))
}

// nearest tells those of the things that most likely are what was meant, the
// likeliest first.
func nearest(wanted string, things []Named) []string {
	wanted = fold(wanted)
	distances := make([]int, len(things))
	for i, thing := range things {
		distances[i] = min(distance(wanted, fold(thing.Key)), distance(wanted, fold(thing.Name)))
	}
	var told []string
	for range min(len(things), maxTold) {
		next := 0
		for i := range things {
			if cmp.Or(cmp.Compare(distances[i], distances[next]), cmp.Compare(things[i].Key, things[next].Key)) < 0 {
				next = i
			}
		}
		told = append(told, things[next].called())
		distances[next] = math.MaxInt
	}
	return told
}

func fold(text string) string {
	return strings.ToLower(norm.NFC.String(shortened(text, "")))
}

// distance is how far a text, or the nearest of its words, is from what was wanted. A
// text that holds the other is near, however long it is.
func distance(wanted, text string) int {
	const near, telling = 1, 3 // a letter or two are in everything
	least := edits(wanted, text)
	if strings.Contains(text, wanted) || len(text) >= telling && strings.Contains(wanted, text) {
		least = min(least, near)
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		least = min(least, edits(wanted, word))
	}
	return least
}

// edits is how many letters have to be put in, left out or replaced to make one text
// of the other.
func edits(one, other string) int {
	a, b := []rune(one), []rune(other)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
