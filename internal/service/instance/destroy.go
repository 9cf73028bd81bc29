package instance

import (
	"context"
	"errors"
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
	if rental.IsConflict(err) {
		// Already on its way out, perhaps by a request of ours whose answer was lost.
		conflict := err
		if inst, err = r.Meta.Client.GetInstance(waitCtx, id); err == nil && !gone(inst) {
			err = conflict
		}
	}
	if err == nil && inst.Status != rental.StatusDestroyed {
		err = r.awaitEnd(waitCtx, id)
	}
	switch {
	case err == nil, rental.IsNotFound(err):
	case ctx.Err() != nil:
		diags.AddError("Interrupted while instance "+id+" was being destroyed", "It stays in the state until it is surely gone; run again.")
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddError("Instance "+id+" is not destroyed yet", fmt.Sprintf("The service took the request, but did not finish within %s (timeouts.delete). Run again.", timeout))
	default:
		tfkit.AddError(diags, "destroy instance "+id, err)
	}
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
			case unreachable(err):
				return false, nil
			}
			return inst.Status == rental.StatusDestroyed, err
		},
	})
}
