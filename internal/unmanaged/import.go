package unmanaged

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// plainID matches ids that are their own spelling in HCL.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_.:~+/=@-]+$`)

// Import returns an import block for each server that an apply would leave as it is. "terraform plan
// -generate-config-out" writes the resources.
func (r Report) Import() string {
	if r.Empty() {
		return "# " + r.nothing() + "\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# %s of the account at %s.\n", count(len(r.Servers), "unmanaged server"), r.BaseURL)
	for i, s := range r.Servers {
		fmt.Fprintf(&text, "\n# %s: %s, %s, %s per hour, age %s\n", s.nameText(), s.statusText(), s.gpuText(),
			amount(s.BurnKopH()), s.ageText())
		switch change := s.changeByImport(); {
		case change != "":
			fmt.Fprintf(&text, "# Not imported: an apply would %s.\n", change)
		case !plainID.MatchString(s.ID):
			fmt.Fprintf(&text, "# Not imported: the id %s has characters that have a meaning in HCL.\n", printable(s.ID))
		default:
			fmt.Fprintf(&text, "import {\n  to = gpurent_instance.server_%d\n  id = \"%s\"\n}\n", i+1, s.ID)
		}
	}
	return text.String()
}

// changeByImport returns what an apply would do with the server after its import, with the generated configuration, and
// nothing if it would leave the server as it is.
func (s *Server) changeByImport() string {
	wanted := rental.DesiredRunning
	if s.DesiredState == rental.DesiredStopped {
		wanted = rental.DesiredStopped
	}
	next := lifecycle.NextAction(s.Instance, wanted, lifecycle.OutbidRestart)
	switch {
	case s.Status == "":
		return "change it, because the API returns data that this version cannot read"
	case next == lifecycle.ActionReplace:
		return "replace it"
	case next == lifecycle.ActionStart && s.Status == rental.StatusOutbid:
		return "place a new bid for it"
	case next == lifecycle.ActionStart:
		return "start it"
	}
	return ""
}
