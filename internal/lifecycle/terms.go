package lifecycle

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// isAboveCap reports whether an instance costs more than the order allows. The price of an offer contains a base disk,
// and the running price contains the whole disk, so the difference between the two disks is allowed.
func (r Rented) isAboveCap() bool {
	limit := r.Order.MaxPriceKopH
	if r.Recovered && !r.BillsGPU() {
		return false // a start compares its price
	}
	base, disk := limit, r.Price.StoppedKopH
	if r.Candidate != nil && r.Candidate.Known() {
		price, _ := r.Candidate.Offer.PriceKopH(r.Order.Request.Type)
		base, disk = min(price, limit), r.Candidate.Offer.DiskKopH(max(r.DiskGB, r.Order.Request.DiskGB))
	}
	running := r.Price.RunningKopH
	return limit > 0 && running > limit && running-base > disk
}

// Differences returns how a new instance differs from its order and from its offer, harmful differences first. A field
// that the API omits does not differ.
func (r Rented) Differences() []Difference {
	var first, others []Difference
	add := func(differs, harmful bool, attribute string, actual, requested any) {
		d := Difference{
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
	request, image := r.Order.Request, r.Order.ExpectedImage
	template := r.Template.Slug
	add(r.Type != "" && r.Type != request.Type, true, "type", r.Type, request.Type)
	add(template != "" && !strings.EqualFold(template, request.Template), true, "template", template, request.Template)
	add(image != "" && r.Image != "" && !rental.SameImage(r.Image, image), true, "image", r.Image, image)
	add(r.DiskGB != 0 && r.DiskGB != request.DiskGB, r.DiskGB < request.DiskGB, "disk_gb", r.DiskGB, request.DiskGB)
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

// Rejection returns why a new instance must not run whatever the account costs: AboveCap or NotAsOrdered.
func (r Rented) Rejection() error {
	if r.isAboveCap() {
		return AboveCap{PriceKopH: r.Price.RunningKopH, CapKopH: r.Order.MaxPriceKopH}
	}
	if differences := r.Differences(); !r.Recovered && len(differences) > 0 && differences[0].Harmful {
		return NotAsOrdered{differences}
	}
	return nil
}

// checkTerms returns why a new instance must not run: it costs more than a limit allows, or is not as ordered. After a
// start, the wait compares the price itself.
func (c *converger) checkTerms(ctx context.Context, inst rental.Instance) error {
	if c.rented == nil || c.starts > 0 {
		return nil
	}
	c.rented.Instance = inst
	if reason := c.rented.Rejection(); reason != nil || c.rented.Recovered && !inst.BillsGPU() {
		return reason
	}
	excess := c.spendMore(ctx, inst) // the account may not show a recovered instance yet
	if c.rented.Recovered && excess != nil {
		c.allowedKopH = inst.Price.RunningKopH
		return nil //nolint:nilerr // the burn rate contains the price already
	}
	return excess
}

// remove destroys a new instance because of a reason, or stops one that this creation may not have rented, even after
// an interruption.
func (c *converger) remove(ctx context.Context, inst *rental.Instance, reason error) error {
	ctx, stop := rental.Detached(ctx)
	defer stop()
	removal := Destroyed
	var err error
	if c.rented.ByThisCreation() {
		_, _, err = c.manager.requestDestroy(ctx, inst.ID, c.manager.Client.Now())
	} else {
		removal = Stopped
		var stopped rental.Instance
		if stopped, err = c.manager.requestStop(ctx, inst.ID); err == nil {
			*inst = stopped
		}
	}
	if err != nil {
		removal = NotRemoved
	}
	return Rejected{Reason: reason, Removal: removal, Err: err}
}
