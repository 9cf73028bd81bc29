package cost

import (
	"fmt"
	"strings"
)

// remarks are the sentences below the table of a report: at most rows of each kind. All names in them are code spans.
func (r Report) remarks(rows int) []string {
	var all []string
	for _, kind := range [][]string{
		r.problemTexts(), r.limitTexts(), r.differenceTexts(), r.priceTexts(), r.accountTexts(), r.Notes, r.changeNotes(),
		r.otherTexts(), r.driftTexts(),
	} {
		if more := len(kind) - rows; more > 0 && more < len(kind) {
			kind = append(kind[:rows:rows], fmt.Sprintf("… %d more like this.", more))
		} else if more > 0 {
			kind = []string{fmt.Sprintf("%s left out.", counted(more, "line is", "lines are"))}
		}
		all = append(all, kind...)
	}
	return all
}

func (r Report) problemTexts() (texts []string) {
	for _, problem := range r.Problems {
		name := "The plan"
		if problem.Address != "" {
			name = code(problem.Address)
		}
		texts = append(texts, fmt.Sprintf("**Problem:** %s: %s", name, problem.Message))
	}
	return texts
}

func (r Report) limitTexts() (texts []string) {
	for _, limit := range r.Limits {
		flag := "`--" + strings.ReplaceAll(limit.Name, "_", "-") + "`"
		if limit.Exceeded {
			texts = append(texts, fmt.Sprintf("**The plan exceeds %s:** %s per hour instead of at most %s.", flag,
				Rubles(limit.PlanKopH), Rubles(limit.MaxKopH)))
		}
		if limit.Undetermined {
			text := fmt.Sprintf("**The plan may exceed %s**, because not all prices can be determined", flag)
			if undetermined := r.Totals.Undetermined; len(undetermined) > 0 {
				text += ": " + codeList(undetermined)
			}
			texts = append(texts, text+".")
		}
	}
	if len(r.Limits) > 0 && r.Totals.DiskExcluded {
		texts = append(texts, "**The limits do not include \"+ disk\".** "+
			"With `--prices`, they include the disks of new servers.")
	}
	return texts
}

func (r Report) differenceTexts() (texts []string) {
	for _, difference := range r.Differences {
		texts = append(texts, fmt.Sprintf("**Not in the review:** %s", difference))
	}
	return texts
}

// String returns the address and the reason. Reasons contain code spans or no names.
func (d Difference) String() string {
	if d.Address == "" {
		return "the plan: " + d.Reason
	}
	return code(d.Address) + ": " + d.Reason
}

// priceTexts explain the sums.
func (r Report) priceTexts() (texts []string) {
	switch r.Totals.Basis {
	case Cap:
		texts = append(texts, "\"up to\": the price cap, because the price is not known before the apply.")
	case Offer:
		texts = append(texts, "\"now\": the present price of the cheapest matching offers. It can change until the apply.")
	default:
	}
	if r.Totals.DiskExcluded {
		texts = append(texts, "\"+ disk\": disk beyond the base disk of an offer, or of stopped members of a fleet, comes "+
			"in addition.")
	}
	if undetermined := r.Totals.Undetermined; len(undetermined) > 0 {
		texts = append(texts, fmt.Sprintf("**The sums do not include** %s.", codeList(undetermined)))
	}
	return texts
}

func (r Report) accountTexts() []string {
	a := r.Account
	switch {
	case a == nil:
		return nil
	case a.BurnAfterKopH == nil:
		return []string{fmt.Sprintf("The account has %s and a credit limit of %s. How long they last cannot be determined.",
			Rubles(a.AvailableKop), Rubles(a.CreditLimitKop))}
	}
	text := fmt.Sprintf("The account has %s, a credit limit of %s, and costs %s per hour after the apply",
		Rubles(a.AvailableKop), Rubles(a.CreditLimitKop), Rubles(*a.BurnAfterKopH))
	if a.HoursAfter != nil {
		text += fmt.Sprintf(": enough for %s", counted(*a.HoursAfter, "hour", "hours"))
	}
	return []string{text + "."}
}

// changeNotes are the notes of the servers.
func (r Report) changeNotes() (texts []string) {
	for _, s := range r.changedServers() {
		notes := s.Notes
		if s.RaisesCap {
			notes = append([]string{"Its price cap rises to " + capText(s.MaxPriceKopH, s.MaxKopH) + "."}, notes...)
		}
		if len(s.ChangedArguments) > 0 {
			notes = append([]string{"Changed arguments: " + codeList(s.ChangedArguments) + "."}, notes...)
		}
		for _, note := range notes {
			texts = append(texts, code(s.label())+": "+note)
		}
	}
	return texts
}

func capText(each, all *int64) string {
	switch {
	case each != nil && all != nil && *each != *all:
		return fmt.Sprintf("%s per hour for each server and %s for all", Rubles(*each), Rubles(*all))
	case all != nil:
		return Rubles(*all) + " per hour"
	}
	return "an unknown or unlimited amount"
}

func (r Report) otherTexts() (texts []string) {
	for _, change := range r.Others {
		text := fmt.Sprintf("%s: %s.", code(change.label()), strings.ReplaceAll(string(change.Action), "_", " "))
		texts = append(texts, strings.Join(append([]string{text}, change.Notes...), " "))
	}
	if r.OtherProviders > 0 {
		texts = append(texts, counted(r.OtherProviders, "resource of another provider changes.",
			"resources of other providers change."))
	}
	return texts
}

func (r Report) driftTexts() (texts []string) {
	for _, drift := range r.Drift {
		text := "Changed outside Terraform: " + code(drift.Address)
		switch {
		case drift.Gone:
			text += " no longer exists"
		case drift.BeforeKopH != nil && drift.AfterKopH != nil:
			text += fmt.Sprintf(", %s per hour before and %s now", Rubles(*drift.BeforeKopH), Rubles(*drift.AfterKopH))
		}
		texts = append(texts, text+".")
	}
	return texts
}

// codeList lists at most ten names.
func codeList(names []string) string {
	const most = 10
	var shown []string
	for _, name := range names[:min(most, len(names))] {
		shown = append(shown, code(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
