package unmanaged

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

// Table returns one line per server and the sums, or one line without servers.
func (r Report) Table() string {
	if r.Empty() {
		return r.nothing() + "\n"
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tSTATUS\tGPU\tPRICE PER HOUR\tCOST SO FAR\tAGE")
	failed, unreadable := false, false
	for _, s := range r.Servers {
		cost := amount(s.CostSoFarKop)
		if s.Omitted.CostSoFar {
			cost = "?"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable(s.ID), s.nameText(), s.statusText(),
			s.gpuText(), amount(s.BurnKopH()), cost, s.ageText())
		failed = failed || s.Status == rental.StatusFailed
		unreadable = unreadable || s.Status == ""
	}
	_ = table.Flush() // a strings.Builder has no errors
	fmt.Fprintf(&text, "\n%s, %s per hour, %s per month (%d hours).\n", count(len(r.Servers), "unmanaged server"),
		rubles.Format(r.BurnKopH(), " "), rubles.Format(rubles.Monthly(r.BurnKopH()), " "), rubles.HoursPerMonth)
	if failed {
		text.WriteString("The sums do not include failed servers: the API has no price for this status.\n")
	}
	if unreadable {
		text.WriteString("The API returns invalid data for servers with the status ?. DELETE /instances/ID destroys one.\n")
	}
	if r.States.Count == 0 {
		text.WriteString("No state was given, so these are all billed servers of the account. " +
			"To leave out those of a state: " + ShowCommand + " | terraform-provider-gpurent unmanaged -\n")
	} else {
		fmt.Fprintf(&text, "%s %s of the account.\n", r.givenStates(), count(r.Managed, "other billed server"))
	}
	return text.String()
}

// nothing returns the line of a report without servers.
func (r Report) nothing() string {
	if r.Managed == 0 {
		return "No unmanaged servers: the account has no billed servers."
	}
	return fmt.Sprintf("No unmanaged servers: %s all billed servers of the account (%d).",
		strings.ToLower(r.givenStates()), r.Managed)
}

// givenStates begins a sentence about the states.
func (r Report) givenStates() string {
	if r.States.Count == 1 {
		return "The given state contains"
	}
	return fmt.Sprintf("The %d given states contain", r.States.Count)
}
