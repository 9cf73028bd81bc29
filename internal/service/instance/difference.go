package instance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// differs says in what a server of an earlier run is not what the plan wants; empty when it is.
func differs(inst rented, plan model) string {
	switch {
	case inst.Template.Slug != "" && inst.Template.Slug != plan.Template.ValueString() && inst.twinTemplate == "":
		return otherThanConfigured("template", inst.Template.Slug, plan.Template.ValueString())
	case inst.DiskGB != 0 && inst.DiskGB != plan.DiskGB.ValueInt64():
		return fmt.Sprintf("disk_gb is %d, and the configuration says %d", inst.DiskGB, plan.DiskGB.ValueInt64())
	case inst.Type != "" && string(inst.Type) != plan.Type.ValueString():
		return otherThanConfigured("type", string(inst.Type), plan.Type.ValueString())
	case inst.Image != "" && !plan.Image.IsUnknown() && !rental.SameImage(inst.Image, plan.Image.ValueString()):
		return otherThanConfigured("image", inst.Image, plan.Image.ValueString())
	}
	return ""
}

func otherThanConfigured(name, has, wants string) string {
	return fmt.Sprintf("%s is %s, and the configuration says %s", name, tfkit.OneLine(has), tfkit.OneLine(wants))
}

func otherThanOrdered(name, has, ordered string) string {
	return fmt.Sprintf("%s is %s, ordered was %s", name, tfkit.OneLine(has), tfkit.OneLine(ordered))
}

// differences says in what a new server is not what was ordered. Harmful differences make it useless in place of the
// ordered one. What the service left out is no difference.
func differences(s rented, plan model) (harmful, harmless []string) {
	if s.Type != "" && string(s.Type) != plan.Type.ValueString() {
		harmful = append(harmful, otherThanOrdered("type", string(s.Type), plan.Type.ValueString()))
	}
	if slug := s.Template.Slug; slug != "" && slug != plan.Template.ValueString() {
		harmful = append(harmful, otherThanOrdered("template", slug, plan.Template.ValueString()))
	}
	ordersImage := !plan.Image.IsUnknown() && !plan.Image.IsNull()
	if ordersImage && s.Image != "" && !rental.SameImage(s.Image, plan.Image.ValueString()) {
		harmful = append(harmful, otherThanOrdered("image", s.Image, plan.Image.ValueString()))
	}
	ordered := plan.DiskGB.ValueInt64()
	otherDisk := fmt.Sprintf("disk_gb is %d, ordered was %d", s.DiskGB, ordered)
	switch {
	case s.DiskGB != 0 && s.DiskGB < ordered:
		harmful = append(harmful, otherDisk)
	case s.DiskGB > ordered:
		harmless = append(harmless, otherDisk)
	}
	if s.offer != nil {
		worse, other := gpuDifferences(s.GPU, s.offer.GPU)
		harmful, harmless = append(harmful, worse...), append(harmless, other...)
	}
	return harmful, harmless
}

// gpuDifferences compares the GPUs of a server with those of its offer.
func gpuDifferences(has rental.InstanceGPU, offered rental.OfferGPU) (harmful, harmless []string) {
	if has.Count != 0 && has.Count != offered.Count {
		text := fmt.Sprintf("it has %d GPUs, the offer had %d", has.Count, offered.Count)
		if has.Count < offered.Count {
			harmful = append(harmful, text)
		} else {
			harmless = append(harmless, text)
		}
	}
	if has.VRAMGB != nil && *has.VRAMGB < offered.VRAMGB {
		text := fmt.Sprintf("its GPUs have %d GB of VRAM, those of the offer had %d GB", *has.VRAMGB, offered.VRAMGB)
		harmful = append(harmful, text)
	}
	if has.Slug != "" && has.Slug != offered.Slug {
		harmless = append(harmless, fmt.Sprintf("its GPU is %q, that of the offer was %q", tfkit.OneLine(has.Slug), tfkit.OneLine(offered.Slug)))
	}
	return harmful, harmless
}

// sameContent reports whether servers made from two templates are the same.
func sameContent(a, b rental.Template) bool {
	ports := func(t rental.Template) []int64 { return slices.Sorted(slices.Values(t.Ports)) }
	return rental.SameImage(a.Image, b.Image) && a.LaunchMode == b.LaunchMode && maps.Equal(a.Env, b.Env) &&
		samePointer(a.OnStart, b.OnStart) && slices.Equal(ports(a), ports(b))
}

func samePointer[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }
