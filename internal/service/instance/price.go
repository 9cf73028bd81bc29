package instance

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Prices are kopecks per hour. The price of an offer includes a base disk, and the running price of an instance the
// whole disk, so an instance may cost more than max_price_kop_h by what its disk costs.

// exceedsCap reports whether an instance costs more than limit while it runs, and more than the price base and disk
// explain. A limit of 0 is no cap.
func exceedsCap(inst rental.Instance, limit, base, disk int64) bool {
	running := inst.Price.RunningKopH
	return limit > 0 && running > limit && running-base > disk
}

// priceWithoutDisk is what an instance costs without its disk while it runs: at most the price of its offer, which
// includes a base disk, so comparing it with the cap never rejects what the cap allows. stoppedBefore is the price
// of the stopped instance, its disk, before a start or a new bid. The lower of the two disk prices counts: a price
// that moved to the disk does not escape the cap.
func priceWithoutDisk(inst rental.Instance, stoppedBefore int64) int64 {
	return inst.Price.RunningKopH - max(0, min(stoppedBefore, inst.Price.StoppedKopH))
}

// hoursPerMonth turns a monthly price into an hourly one.
const hoursPerMonth = 730

// exceedsCap compares the answer to the create request with the cap.
func (s rented) exceedsCap(plan model) bool {
	limit := plan.MaxPriceKopH.ValueInt64()
	if s.takenOver && !billsGPU(s.Instance) {
		return false // a start compares its price
	}
	if s.offer == nil {
		return exceedsCap(s.Instance, limit, limit, s.Price.StoppedKopH)
	}
	price, _ := priceOf(*s.offer, rental.RentalType(plan.Type.ValueString()))
	disk := (max(s.DiskGB, plan.DiskGB.ValueInt64())*s.offer.Price.StorageKopGBMonth + hoursPerMonth - 1) / hoursPerMonth
	return exceedsCap(s.Instance, limit, min(price, limit), disk)
}

// billsGPU reports whether an instance is billed at its running price, or is about to be.
func billsGPU(inst rental.Instance) bool {
	idle := []rental.InstanceStatus{rental.StatusStopped, rental.StatusStopping, rental.StatusOutbid, rental.StatusFailed}
	return !slices.Contains(idle, inst.Status)
}

// rejectOverpriced destroys a server that turned out to cost more than the cap, or stops one that an earlier run
// rented. The state keeps it unless its destruction was accepted.
func (r *instanceResource) rejectOverpriced(
	ctx context.Context, server rented, plan model, resp *resource.CreateResponse,
) {
	timeout, diags := plan.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, end := tfkit.Detach(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if server.takenOver {
		var stopped rental.Instance
		err := r.whileRefused(ctx, func() (err error) {
			stopped, err = r.requestStop(ctx, server.ID)
			return err
		})
		if err != nil {
			addOverpricedRuns(&resp.Diagnostics, server, plan, "stop", err)
			return
		}
		resp.Diagnostics.Append(resp.State.Set(ctx, applied(plan, stopped))...)
		addOverpricedStopped(&resp.Diagnostics, server, plan)
		return
	}
	r.fleet().keys.destroy(server.ID, "")
	if err := r.whileRefused(ctx, func() error { return r.requestDestroy(ctx, server.ID) }); err != nil {
		r.fleet().keys.keepAlive(server.ID)
		addOverpricedRuns(&resp.Diagnostics, server, plan, "destroy", err)
		return
	}
	r.fleet().forget(server.ID)
	resp.State.RemoveResource(ctx)
	resp.Identity.Raw = tftypes.NewValue(resp.Identity.Raw.Type(), nil)
	addOverpricedDestroyed(&resp.Diagnostics, server, plan)
}

// whileRefused repeats a request until ctx ends while the service refuses it because of the status of a server: it may
// have to be running before it can be stopped. A request whose answer is lost is repeated a few times.
func (r *instanceResource) whileRefused(ctx context.Context, send func() error) error {
	pause := poll.Growing(r.Meta.PollInterval)
	for attempt := 0; ; attempt++ {
		err := send()
		again := rental.IsConflict(err) || !isDefinitive(err) && attempt < maxRequests
		if err == nil || !again || poll.Pause(ctx, pause(attempt)) != nil {
			return err
		}
	}
}

// requestStop returns the instance when the service has accepted to stop it, or does not bill its GPU.
func (r *instanceResource) requestStop(ctx context.Context, id string) (rental.Instance, error) {
	inst, err := r.Meta.Client.StopInstance(ctx, id)
	if now, ok := r.readAfter(ctx, id, err); ok && !billsGPU(now) {
		return now, nil
	}
	return inst, err
}

// readAfter reads an instance after a request that failed, but that, like an earlier one, may have been carried out
// although its answer was lost.
func (r *instanceResource) readAfter(ctx context.Context, id string, failed error) (inst rental.Instance, ok bool) {
	if !rental.IsConflict(failed) && isDefinitive(failed) {
		return inst, false
	}
	inst, err := r.Meta.Client.GetInstance(ctx, id)
	return inst, err == nil
}

// requestDestroy returns nil when the service has accepted to destroy an instance, or has no such instance.
func (r *instanceResource) requestDestroy(ctx context.Context, id string) error {
	_, err := r.Meta.Client.DeleteInstance(ctx, id)
	if now, ok := r.readAfter(ctx, id, err); ok && gone(now) {
		return nil
	}
	if rental.IsNotFound(err) {
		return nil
	}
	return err
}

// addDifferences reports in what a new server differs from the order and its offer.
func addDifferences(diags *diag.Diagnostics, server rented, plan model) {
	harmful, harmless := differences(server, plan)
	switch {
	case len(harmful) > 0:
		addNotAsOrdered(diags, server.Instance, append(harmful, harmless...))
	case len(harmless) > 0:
		addDiffersFromOffer(diags, server.Instance, harmless)
	}
}
