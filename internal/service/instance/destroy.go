package instance

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// destroy asks for the destruction and waits for its end, so that a name, an
// offer or a limit it occupied is free when Terraform goes on.
func (r *instanceResource) destroy(ctx, waitCtx context.Context, id string, timeout time.Duration, diags *diag.Diagnostics) {
	inst, err := r.Meta.Client.DeleteInstance(waitCtx, id)
	confirmed := err == nil
	if rental.IsConflict(err) || err != nil && !isDefinitive(err) && waitCtx.Err() == nil {
		inst, err = r.awaitStart(waitCtx, id, err)
		confirmed = err == nil
	}
	if err == nil && inst.Status != rental.StatusDestroyed {
		err = r.awaitEnd(waitCtx, id)
	}
	switch {
	case err == nil, rental.IsNotFound(err):
	case ctx.Err() != nil:
		diags.AddError("Interrupted while instance "+tfkit.OneLine(id)+" was being destroyed", "It stays in the state until it is surely gone; run again.")
	case waitCtx.Err() != nil && confirmed:
		diags.AddError("Instance "+tfkit.OneLine(id)+" is not destroyed yet", fmt.Sprintf("The service took the request, but did not finish within %s (timeouts.delete). Run again.", timeout))
	case waitCtx.Err() != nil:
		diags.AddError("Instance "+tfkit.OneLine(id)+" is not destroyed yet",
			fmt.Sprintf("The service did not confirm the request within %s (timeouts.delete), so the server may still run and be billed. Run again.", timeout))
	default:
		tfkit.AddError(diags, "destroy instance "+id, err)
	}
}

// awaitStart returns when a server is being destroyed although its DELETE failed with cause:
// an attempt whose answer was lost may have been carried out, and the status may lag behind.
// It returns cause when nothing shows that in time.
func (r *instanceResource) awaitStart(ctx context.Context, id string, cause error) (rental.Instance, error) {
	var last rental.Instance
	failed := request{at: time.Now(), err: cause}
	enough := failed.doubt(statusLag(r.Meta.PollInterval), r.Meta.Client.RequestTimeout())
	check := func(_ context.Context, inst rental.Instance, err error) (bool, error) {
		last = inst
		failed.seen++
		switch {
		case err == nil && gone(inst):
			return true, nil
		case err != nil && isDefinitive(err):
			return false, err
		case failed.seen >= lagObservations && time.Since(failed.at) > enough:
			return false, cause
		}
		return false, nil
	}
	inst, err := r.fleet().watch.afresh(ctx, r.Meta.Client, id)
	if done, err := check(ctx, inst, err); done || err != nil {
		return last, err
	}
	err = r.fleet().watch.until(ctx, r.Meta.Client, wait{id: id, backoff: poll.Growing(r.Meta.PollInterval), check: check})
	return last, err
}

// awaitEnd waits until a server that is being destroyed is destroyed. A service
// that does not answer for a while changes nothing about that.
func (r *instanceResource) awaitEnd(ctx context.Context, id string) error {
	return r.fleet().watch.until(ctx, r.Meta.Client, wait{
		id: id, backoff: poll.Growing(r.Meta.PollInterval), endAwaited: true,
		check: func(_ context.Context, inst rental.Instance, err error) (bool, error) {
			switch {
			case rental.IsNotFound(err):
				return true, nil
			case err != nil && !isDefinitive(err):
				return false, nil
			}
			return inst.Status == rental.StatusDestroyed, err
		},
	})
}
