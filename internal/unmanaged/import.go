package unmanaged

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Bounds of disk_gb.
const minDiskGB, maxDiskGB = 10, 2000

// gpuSlug matches the slugs that the argument gpu accepts.
var gpuSlug = regexp.MustCompile(`^[^,\s]+$`)

// gpuCounts are the values that the argument num_gpus accepts.
var gpuCounts = []int64{1, 2, 4, 8}

// Import returns a configuration with an import block and a resource for each server. Its plan imports the servers and
// changes nothing. What cannot be imported, or only with a change, has a comment.
func (r Report) Import() string {
	if r.Empty() {
		return "# " + r.nothing() + "\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# %s of the account at %s.\n", count(len(r.Servers), "unmanaged server"), r.BaseURL)
	text.WriteString("# For a server with a resource in the configuration, use only the import block with its address.\n")
	used := map[string]bool{}
	for _, s := range r.Servers {
		text.WriteString("\n" + s.importText(s.label(used)))
	}
	return text.String()
}

// importText returns the blocks of a server with a resource name.
func (s *Server) importText(label string) string {
	comment := fmt.Sprintf("%s: %s, %s, %s per hour, age %s", printable(s.ID), s.statusText(), s.gpuText(),
		amount(s.BurnKopH()), s.ageText())
	if s.Fleet != "" {
		comment += ", named like a member of the fleet " + quote(printable(s.Fleet))
	}
	desired, onOutbid := s.policies()
	next := lifecycle.NextAction(s.Instance, desired, onOutbid)
	if reason := s.obstacle(next); reason != "" {
		return fmt.Sprintf("# %s\n# Not imported: %s\n", comment, reason)
	}
	if next != lifecycle.ActionNone || onOutbid == lifecycle.OutbidKeep {
		comment += "\n# A plan shows a change because of this status. Its apply starts and rents nothing."
	}
	return fmt.Sprintf("# %s\n%s", comment, s.blocks(label, desired, onOutbid))
}

// policies returns the arguments with which an apply leaves the server as it is.
func (s *Server) policies() (rental.DesiredState, lifecycle.OutbidPolicy) {
	desired, onOutbid := rental.DesiredRunning, lifecycle.OutbidRestart
	switch {
	case s.DesiredState == rental.DesiredStopped || s.Status == rental.StatusStopped:
		desired = rental.DesiredStopped
	case s.Status == rental.StatusOutbid:
		onOutbid = lifecycle.OutbidKeep
	}
	return desired, onOutbid
}

// obstacle returns why a server cannot be imported; empty if it can be.
func (s *Server) obstacle(next lifecycle.Action) string {
	switch {
	case s.Status == "":
		return "the API returns data that this version of the provider cannot read."
	case next == lifecycle.ActionReplace:
		return "an apply would replace the failed server. Destroy it in the console of the service."
	case s.Type != rental.OnDemand && s.Type != rental.Interruptible:
		return "this version of the provider does not know its type, and an apply would replace it."
	case s.Template.Slug == "":
		return "the API does not return its template."
	case s.DiskGB < minDiskGB || s.DiskGB > maxDiskGB:
		return "the API does not return a valid size of its disk."
	}
	return ""
}

// blocks returns the import block and the resource.
func (s *Server) blocks(label string, desired rental.DesiredState, onOutbid lifecycle.OutbidPolicy) string {
	var arguments [][2]string
	add := func(name, value string, condition bool) {
		if condition {
			arguments = append(arguments, [2]string{name, value})
		}
	}
	add("name", quote(s.NameString()), s.NameString() != "")
	add("template", quote(s.Template.Slug), true)
	add("image", quote(s.Image), s.Template.Slug == rental.CustomTemplate && s.Image != "")
	add("disk_gb", fmt.Sprint(s.DiskGB), true)
	add("type", quote(string(s.Type)), s.Type != rental.OnDemand)
	add("desired_state", quote(string(desired)), desired != rental.DesiredRunning)
	add("on_outbid", quote(string(onOutbid)), onOutbid != lifecycle.OutbidRestart)
	var text strings.Builder
	fmt.Fprintf(&text, "import {\n  to = gpurent_instance.%s\n  id = %s\n}\n\nresource \"gpurent_instance\" %s {\n%s",
		label, quote(s.ID), quote(label), aligned("  ", arguments))
	query := s.query()
	if len(query) == 0 {
		return text.String() + "  offer_query = {}\n}\n"
	}
	return text.String() + "  offer_query = {\n" + aligned("    ", query) + "  }\n}\n"
}

// query returns the filters that the provider saves as offer_query when it imports a server.
func (s *Server) query() (filters [][2]string) {
	if gpuSlug.MatchString(s.GPU.Slug) {
		filters = append(filters, [2]string{"gpu", "[" + quote(s.GPU.Slug) + "]"})
	}
	switch {
	case slices.Contains(gpuCounts, s.GPU.Count):
		filters = append(filters, [2]string{"num_gpus", fmt.Sprintf("[%d]", s.GPU.Count)})
	case s.GPU.Count > 0:
		filters = append(filters, [2]string{"min_gpus", fmt.Sprint(s.GPU.Count)})
	}
	return filters
}

// aligned returns arguments on indented lines, as "terraform fmt" formats them.
func aligned(indent string, arguments [][2]string) string {
	width := 0
	for _, argument := range arguments {
		width = max(width, utf8.RuneCountInString(argument[0]))
	}
	var text strings.Builder
	for _, argument := range arguments {
		fmt.Fprintf(&text, "%s%-*s = %s\n", indent, width, argument[0], argument[1])
	}
	return text.String()
}

var notLabel = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// toLabel returns a text as the name of a resource; empty if nothing of it can be part of one.
func toLabel(text string) string {
	label := strings.Trim(notLabel.ReplaceAllString(text, "_"), "_-")
	if label != "" && (label[0] >= '0' && label[0] <= '9') {
		return "server_" + label
	}
	return label
}

// label returns a resource name that is not yet used, and adds it.
func (s *Server) label(used map[string]bool) string {
	byID := toLabel("server_" + s.ID)
	label := toLabel(s.NameString())
	if label == "" {
		label = byID
	} else if used[label] {
		label += "_" + toLabel(s.ID)
	}
	for n := 2; used[label]; n++ {
		label = fmt.Sprintf("%s_%d", byID, n)
	}
	used[label] = true
	return label
}
