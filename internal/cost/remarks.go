package cost

import (
	"fmt"
	"strings"
)

// remarks are the sentences below the table of a report: at most rows of each kind. All names in them are code spans.
func (r Report) remarks(rows int) []string {
	var all []string
	for _, kind := range [][]string{
		r.problemTexts(), r.limitTexts(), r.priceTexts(), r.changeNotes(),
	} {
		if more := len(kind) - rows; more > 0 {
			kind = append(kind[:rows:rows], fmt.Sprintf("… %d more like this.", more))
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
				formatRubles(limit.PlanKopH), formatRubles(limit.MaxKopH)))
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

// changeNotes are the notes of the servers.
func (r Report) changeNotes() (texts []string) {
	for _, s := range r.changedServers() {
		for _, note := range s.Notes {
			texts = append(texts, code(s.label())+": "+note)
		}
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
