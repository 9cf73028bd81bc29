package unmanaged

import (
	"fmt"
	"strings"
)

// Import returns an import block for each server. "terraform plan -generate-config-out" writes the resources.
func (r Report) Import() string {
	if r.Empty() {
		return "# " + r.nothing() + "\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# %s of the account at %s.\n", count(len(r.Servers), "unmanaged server"), r.BaseURL)
	for i, s := range r.Servers {
		fmt.Fprintf(&text, "\n# %s: %s, %s, %s per hour, age %s\n", s.nameText(), s.statusText(), s.gpuText(),
			amount(s.BurnKopH()), s.ageText())
		fmt.Fprintf(&text, "import {\n  to = gpurent_instance.server_%d\n  id = %s\n}\n", i+1, quote(s.ID))
	}
	return text.String()
}
