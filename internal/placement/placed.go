package placement

import (
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Difference is a difference between an instance and its request.
type Difference struct {
	Attribute         string // "template", "disk_gb", "type", "image", "gpu.count", "gpu.vram_gb" or "gpu.slug"
	Actual, Requested string
	// Harmful: the instance does not meet the request.
	Harmful bool
}

// AboveCap reports whether an instance costs more than the request allows. The price of an offer contains a base disk,
// and the running price contains the whole disk, so the difference between the two disks is allowed.
func (p Placed) AboveCap(request Request) bool {
	limit := request.MaxPriceKopH
	if p.Recovered && !p.BillsGPU() {
		return false // a start compares its price
	}
	base, disk := limit, p.Price.StoppedKopH
	if p.Offer != nil {
		price, _ := p.Offer.PriceKopH(request.Order.Type)
		base, disk = min(price, limit), p.Offer.DiskKopH(max(p.DiskGB, request.Order.DiskGB))
	}
	running := p.Price.RunningKopH
	return limit > 0 && running > limit && running-base > disk
}

// Differences returns how a new instance differs from the request and from its offer, harmful differences first. A
// field that the API omits does not differ.
func (p Placed) Differences(request Request) []Difference {
	var first, others []Difference
	add := func(differs, harmful bool, attribute string, actual, requested any) {
		switch d := (Difference{attribute, fmt.Sprint(actual), fmt.Sprint(requested), harmful}); {
		case !differs:
		case harmful:
			first = append(first, d)
		default:
			others = append(others, d)
		}
	}
	order := request.Order
	add(p.Type != "" && p.Type != order.Type, true, "type", p.Type, order.Type)
	add(p.Template.Slug != "" && p.Template.Slug != order.Template, true, "template", p.Template.Slug, order.Template)
	add(
		request.Image != "" && p.Image != "" && !rental.SameImage(p.Image, request.Image),
		true,
		"image",
		p.Image,
		request.Image,
	)
	add(p.DiskGB != 0 && p.DiskGB != order.DiskGB, p.DiskGB < order.DiskGB, "disk_gb", p.DiskGB, order.DiskGB)
	if p.Offer != nil {
		has, offered := p.GPU, p.Offer.GPU
		add(has.Count != 0 && has.Count != offered.Count, has.Count < offered.Count, "gpu.count", has.Count, offered.Count)
		if has.VRAMGB != nil {
			add(*has.VRAMGB < offered.VRAMGB, true, "gpu.vram_gb", *has.VRAMGB, offered.VRAMGB)
		}
		add(has.Slug != "" && has.Slug != offered.Slug, false, "gpu.slug", has.Slug, offered.Slug)
	}
	return append(first, others...)
}
