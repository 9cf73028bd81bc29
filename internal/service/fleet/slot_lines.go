package fleet

import (
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// slotLine is what a message contains about one slot.
type slotLine struct {
	slot     int
	instance string // empty if it has none
	text     tfkit.Text
}

// slotLines returns an indented line for each different text, with all slots and instances that it is about: a plan
// names each server that it destroys.
func slotLines(lines []slotLine) (all tfkit.Text) {
	var texts []tfkit.Text
	slots := map[tfkit.Text][]string{} // by text
	for _, line := range lines {
		slot := tfkit.Textf("%d", line.slot)
		if line.instance != "" {
			slot += tfkit.Textf(" (%s)", line.instance)
		}
		if !slices.Contains(texts, line.text) {
			texts = append(texts, line.text)
		}
		slots[line.text] = append(slots[line.text], string(slot))
	}
	for _, text := range texts[:min(len(texts), maxReasons)] {
		word := tfkit.Text("slot ")
		if len(slots[text]) > 1 {
			word = "slots "
		}
		all += "\n  " + word + tfkit.Text(strings.Join(slots[text], ", ")) + ": " + text
	}
	if others := len(texts) - maxReasons; others > 0 {
		all += tfkit.Textf("\n  … and %d other reasons", others)
	}
	return all
}

// maxReasons is the maximum number of lines. A plan has fewer reasons, so it shows each member that it destroys.
const maxReasons = 20
