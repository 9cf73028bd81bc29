package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Destroy destroys an instance and waits until it is gone, so that its name, its offer and its part of a limit are
// free. createdAt is the time of the API's clock, or zero. confirmed reports whether the API accepted the request, also
// with an error.
func (m *Manager) Destroy(ctx context.Context, id string, createdAt time.Time) (confirmed bool, err error) {
	inst, err := m.deleteInstance(ctx, id, createdAt)
	if rental.IsConflict(err) || err != nil && !rental.IsDefinitive(err) && ctx.Err() == nil {
		inst, err = m.awaitDestroying(ctx, id, err)
	}
	confirmed = err == nil
	if err == nil && inst.Status != rental.StatusDestroyed {
		err = m.awaitDestroyed(ctx, id)
	}
	if rental.IsNotFound(err) {
		return confirmed, nil
	}
	return confirmed, err
}

// deleteInstance repeats the request while a 404 can mean that the API does not find the instance yet.
func (m *Manager) deleteInstance(ctx context.Context, id string, createdAt time.Time) (rental.Instance, error) {
	certain := time.Now().Add(m.client.LagLeft(createdAt, rental.NewInstanceLag))
	for attempt := 0; ; attempt++ {
		inst, err := m.client.DeleteInstance(ctx, id)
		if !rental.IsNotFound(err) || !time.Now().Before(certain) {
			return inst, err
		}
		if err := backoff.Sleep(ctx, m.pauses().Pause(attempt)); err != nil {
			return inst, fmt.Errorf("the API does not find the new instance yet: %w", err)
		}
	}
}

// awaitDestroying waits for the status destroying after a request failed with cause. An attempt with a lost response
// may have succeeded, and the status may lag. It returns cause if the status does not change in time.
func (m *Manager) awaitDestroying(ctx context.Context, id string, cause error) (rental.Instance, error) {
	var last rental.Instance
	failed := request{at: time.Now(), err: cause}
	check := func(_ context.Context, inst rental.Instance, err error) (bool, error) {
		last = inst
		failed.seen++
		switch {
		case err == nil && inst.Destroyed():
			return true, nil
		case err != nil && rental.IsDefinitive(err):
			return false, err
		case !failed.mayTakeEffect(m.statusLag(), m.client.RequestTimeout()):
			return false, cause
		}
		return false, nil
	}
	inst, err := m.poller.Get(ctx, id)
	if done, err := check(ctx, inst, err); done || err != nil {
		return last, err
	}
	err = m.poller.wait(ctx, waiter{id: id}, m.pauses().Pause, check)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w; the last request failed: %w", ctx.Err(), cause)
	}
	return last, err
}

// awaitDestroyed waits until an instance with the status destroying is destroyed. It tolerates an API that does not
// respond.
func (m *Manager) awaitDestroyed(ctx context.Context, id string) error {
	return m.poller.wait(ctx, waiter{id: id, destroyAccepted: true}, m.pauses().Pause,
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

// RequestStop repeats a stop request until the API accepts it, the GPU is not billed, or ctx ends. It does not wait
// until the instance is stopped.
func (m *Manager) RequestStop(ctx context.Context, id string) (stopped rental.Instance, err error) {
	err = m.untilAccepted(ctx, func() (err error) {
		stopped, err = m.client.StopInstance(ctx, id)
		if now, ok := m.readAfter(ctx, id, err); ok && !now.BillsGPU() {
			stopped, err = now, nil
		}
		return err
	})
	return stopped, err
}

// RequestDestroy repeats a destroy request until the API accepts it, the instance does not exist, or ctx ends. It does
// not wait until the instance is gone. createdAt is that of Destroy.
func (m *Manager) RequestDestroy(ctx context.Context, id string, createdAt time.Time) error {
	return m.untilAccepted(ctx, func() error {
		_, err := m.deleteInstance(ctx, id, createdAt)
		if now, ok := m.readAfter(ctx, id, err); ok && now.Destroyed() || rental.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// untilAccepted repeats a request while the API refuses it because of the status: an instance may have to run before it
// can be stopped. It repeats a request with an unknown outcome a few times.
func (m *Manager) untilAccepted(ctx context.Context, send func() error) error {
	for attempt := 0; ; attempt++ {
		err := send()
		again := rental.IsConflict(err) || !rental.IsDefinitive(err) && attempt < maxRequests
		if err == nil || !again || backoff.Sleep(ctx, m.pauses().Pause(attempt)) != nil {
			return err
		}
	}
}

// readAfter reads an instance after a request that failed, but that may have succeeded with a lost response.
func (m *Manager) readAfter(ctx context.Context, id string, failed error) (inst rental.Instance, ok bool) {
	if failed == nil || !rental.IsConflict(failed) && rental.IsDefinitive(failed) {
		return inst, false
	}
	inst, err := m.client.GetInstance(ctx, id)
	return inst, err == nil
}

// Rename changes the name of an instance. After a lost response it reads the name to find out whether the request
// succeeded.
func (m *Manager) Rename(ctx context.Context, id string, name *string) (rental.Instance, error) {
	update := rental.InstanceUpdate{Name: name}
	inst, err := m.client.UpdateInstance(ctx, id, update)
	if err == nil || rental.IsDefinitive(err) {
		return inst, err
	}
	now, readErr := m.poller.Get(ctx, id)
	if readErr == nil && now.NameString() == (rental.Instance{Name: name}).NameString() {
		return now, nil
	}
	return inst, err
}
