package fleet

import (
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// maxReasons is the maximum number of lines. A plan has fewer reasons, so it shows each member that it destroys.
const maxReasons = 20

// slotLine is what a message contains about one slot. Lines are merged if their texts are equal without the parts that
// differ from slot to slot, such as ids.
type slotLine struct {
	slot     int
	instance string // empty for none
	text     tfkit.Text
	differs  []string // empty ones are ignored
}

// slotLines returns an indented line for each text, with the slots and the instances that it is about.
func slotLines(lines []slotLine) tfkit.Text {
	type group struct {
		key, text tfkit.Text
		slots     []int
		instances []string
	}
	var groups []*group
	for _, l := range lines {
		var parts []string
		for _, part := range append(l.differs, l.instance) {
			if part != "" {
				parts = append(parts, part, "")
			}
		}
		key := tfkit.Text(strings.NewReplacer(parts...).Replace(string(l.text)))
		i := slices.IndexFunc(groups, func(g *group) bool { return g.key == key })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{key: key, text: l.text})
		}
		groups[i].slots = append(groups[i].slots, l.slot)
		if l.instance != "" {
			groups[i].instances = append(groups[i].instances, l.instance)
		}
	}
	var text tfkit.Text
	var others []int
	for i, g := range groups {
		if i >= maxReasons {
			others = append(others, g.slots...)
			continue
		}
		text += "\n  " + slotsText(g.slots)
		if len(g.instances) > 0 {
			text += " (" + tfkit.List(g.instances) + ")"
		}
		text += ": " + g.text
	}
	if others != nil {
		text += "\n  " + slotsText(others) + ": other reasons"
	}
	return text
}

// slotsText returns "slot 4", or sorted slots with their ranges: "slots 0, 2, 8 to 29".
func slotsText(slots []int) tfkit.Text {
	if len(slots) == 1 {
		return tfkit.Textf("slot %d", slots[0])
	}
	slices.Sort(slots)
	var ranges []string
	for i := 0; i < len(slots); i++ {
		last := i
		for last+1 < len(slots) && slots[last+1] == slots[last]+1 {
			last++
		}
		if last < i+2 {
			last = i
		}
		text := tfkit.Textf("%d", slots[i])
		if last > i {
			text = tfkit.Textf("%d to %d", slots[i], slots[last])
		}
		ranges, i = append(ranges, string(text)), last
	}
	return "slots " + tfkit.List(ranges)
}
