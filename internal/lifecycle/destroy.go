package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Destroy destroys an instance and waits until it is destroyed, so that its name, its offer and its part of a limit are
// free. createdAt is the time of the API's clock, or zero. accepted reports whether the API accepted the request, also
// with an error. Without an error and not accepted, the API does not find the instance.
func (m *Manager) Destroy(ctx context.Context, id string, createdAt time.Time) (accepted bool, err error) {
	inst, accepted, err := m.requestDestroy(ctx, id, createdAt)
	if err != nil || !accepted || inst.Status == rental.StatusDestroyed {
		return accepted, err
	}
	if err = m.awaitDestroyed(ctx, id); err == nil {
		m.Account.Destroyed(id) // the account may lag from now on
	}
	return true, err
}

// requestDestroy repeats the request until the API accepts it, or does not find the instance: the API may refuse it
// while the instance boots, may not find a new instance yet, and the response to an accepted
// request can be lost. It does not wait until the instance is destroyed.
func (m *Manager) requestDestroy(
	ctx context.Context, id string, createdAt time.Time,
) (inst rental.Instance, accepted bool, err error) {
	began := time.Now()
	unknown := 0      // requests with an unknown outcome, each with the retries of the client
	var refusal error // the last one before ctx ended
	for attempt := 0; ; attempt++ {
		inst, err = m.Client.DeleteInstance(ctx, id)
		if rental.IsConflict(err) || err != nil && !rental.IsDefinitive(err) {
			if now, readErr := m.Get(ctx, id); readErr == nil && now.Destroyed() {
				inst, err = now, nil
			} else if rental.IsNotFound(readErr) {
				err = readErr
			}
		}
		if err != nil && !rental.IsDefinitive(err) {
			unknown++
		}
		switch {
		case err == nil:
			m.setDestroyed(id)
			return inst, true, nil
		case unknown == maxRequests && ctx.Err() == nil:
			return rental.Instance{}, false, err
		case rental.IsNotFound(err) && (m.Client.LagLeft(createdAt, rental.NewInstanceLag) <= 0 ||
			time.Since(began) >= rental.NewInstanceLag): // the API's clock may stand still
			m.setDestroyed(id)
			return rental.Instance{}, false, nil
		case ctx.Err() == nil && rental.IsDefinitive(err) && !rental.IsNotFound(err) && !rental.IsConflict(err):
			return rental.Instance{}, false, err
		case ctx.Err() == nil:
			refusal = err
		}
		if ended := backoff.Sleep(ctx, m.pauses().Pause(attempt)); ended != nil {
			err = fmt.Errorf("%w; the last request failed: %w", ended, cmp.Or(refusal, err))
			return rental.Instance{}, false, err
		}
	}
}

// setDestroyed records that an instance is destroyed, or about to be: lists and the burn rate may lag.
func (m *Manager) setDestroyed(id string) {
	m.Owners.destroyed(id)
	m.Account.Destroyed(id)
}

// awaitDestroyed waits until an instance with the status destroying is destroyed. It tolerates an API that does not
// respond.
func (m *Manager) awaitDestroyed(ctx context.Context, id string) error {
	return m.wait(ctx, id, true, m.pauses().Pause,
		func(_ context.Context, inst rental.Instance, err error) (bool, error) {
			switch {
			case rental.IsNotFound(err):
				return true, nil
			case err != nil && !rental.IsDefinitive(err):
				return false, nil
			}
			return inst.Status == rental.StatusDestroyed, err
		})
}

// requestStop repeats a stop request until the API accepts it, the GPU is not billed, or ctx ends: an instance may have
// to run before it can be stopped. It does not wait until the instance is stopped.
func (m *Manager) requestStop(ctx context.Context, id string) (rental.Instance, error) {
	for attempt := 0; ; attempt++ {
		stopped, err := m.Client.StopInstance(ctx, id)
		if rental.IsConflict(err) || err != nil && !rental.IsDefinitive(err) {
			if now, readErr := m.Get(ctx, id); readErr == nil && !now.BillsGPU() {
				return now, nil
			}
		}
		again := rental.IsConflict(err) || !rental.IsDefinitive(err) && attempt < maxRequests
		if err == nil || !again || backoff.Sleep(ctx, m.pauses().Pause(attempt)) != nil {
			return stopped, err
		}
	}
}

// Rename changes the name of an instance. If the response is lost, it reads the name to find out whether the request
// succeeded.
func (m *Manager) Rename(ctx context.Context, id string, name *string) (rental.Instance, error) {
	update := rental.InstanceUpdate{Name: name}
	inst, err := m.Client.UpdateInstance(ctx, id, update)
	if err == nil || rental.IsDefinitive(err) {
		return inst, err
	}
	now, readErr := m.Get(ctx, id)
	if readErr == nil && now.NameString() == (rental.Instance{Name: name}).NameString() {
		return now, nil
	}
	return inst, err
}
