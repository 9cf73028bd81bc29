package lifecycle

import (
	"fmt"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// aboveCap reports whether an instance costs more than the order allows. The price of an offer contains a base disk,
// and the running price contains the whole disk, so the difference between the two disks is allowed.
func (r Rented) aboveCap(order Order) bool {
	limit := order.Target.MaxPriceKopH
	if r.Recovered && !r.BillsGPU() {
		return false // a start compares its price
	}
	base, disk := limit, r.Price.StoppedKopH
	if r.Candidate != nil && r.Candidate.Known() {
		price, _ := r.Candidate.Offer.PriceKopH(order.Type)
		base, disk = min(price, limit), r.Candidate.Offer.DiskKopH(max(r.DiskGB, order.DiskGB))
	}
	running := r.Price.RunningKopH
	return limit > 0 && running > limit && running-base > disk
}

// Differences returns how a new instance differs from its order and from its offer, harmful differences first. A field
// that the API omits does not differ.
func (r Rented) Differences(order Order) []failure.Difference {
	var first, others []failure.Difference
	add := func(differs, harmful bool, attribute string, actual, requested any) {
		d := failure.Difference{
			Attribute: attribute, Actual: fmt.Sprint(actual), Requested: fmt.Sprint(requested), Harmful: harmful,
		}
		switch {
		case !differs:
		case harmful:
			first = append(first, d)
		default:
			others = append(others, d)
		}
	}
	image := order.ExpectedImage
	template := r.Template.Slug
	add(r.Type != "" && r.Type != order.Type, true, "type", r.Type, order.Type)
	add(template != "" && !strings.EqualFold(template, order.Template), true, "template", template, order.Template)
	add(image != "" && r.Image != "" && !rental.SameImage(r.Image, image), true, "image", r.Image, image)
	add(r.DiskGB != 0 && r.DiskGB != order.DiskGB, r.DiskGB < order.DiskGB, "disk_gb", r.DiskGB, order.DiskGB)
	if r.Candidate != nil && r.Candidate.Known() {
		has, offered := r.GPU, r.Candidate.Offer.GPU
		add(has.Count != 0 && has.Count != offered.Count, has.Count < offered.Count, "gpu.count", has.Count, offered.Count)
		if has.VRAMGB != nil { // the two can be rounded in different ways
			add(*has.VRAMGB < offered.VRAMGB-1, true, "gpu.vram_gb", *has.VRAMGB, offered.VRAMGB)
		}
		add(has.Slug != "" && has.Slug != offered.Slug, false, "gpu.slug", has.Slug, offered.Slug)
	}
	return append(first, others...)
}
