package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// slower is by how much each slow_down lengthens the pause between polls.
	slower = 5 * time.Second
	// grace is how long a poll that is on its way when the login ends may take: its
	// answer may hold the key, which is told once.
	grace = 3 * time.Second
)

var (
	errDenied  = errors.New("the login was denied in the browser: run login again if that was a mistake")
	errExpired = errors.New("the code expired before the login was approved: run login again")
	errUsed    = errors.New("the service says that the code has expired or was used already: run login again")
)

// approval waits for somebody to approve a login in a browser.
type approval struct {
	client     *rental.Client
	deviceCode string
	clientName string
	interval   time.Duration // between polls

	token rental.DeviceToken
	// lost: an answer that may have held the key did not arrive, and none has told since.
	lost bool
	// trouble is why the last poll told nothing; nil when it did.
	trouble error
	// foreign counts the refusals that did not come from the service.
	foreign int
}

// wait polls until the login is approved, or cannot be any more. A key that arrives as
// ctx ends is returned all the same.
func (a *approval) wait(ctx context.Context, expires time.Time) (rental.DeviceToken, error) {
	waiting, cancel := context.WithDeadline(ctx, expires)
	defer cancel()
	err := poll.Until(waiting, func(int) time.Duration { return a.interval }, a.ask)
	switch {
	case err == nil:
		return a.token, nil
	case ctx.Err() != nil:
		err = errCancelled
	case errors.Is(err, context.DeadlineExceeded):
		err = errExpired
		if a.trouble != nil {
			err = fmt.Errorf("%w (the service did not answer at last: %w)", err, a.trouble)
		}
	}
	if a.lost {
		err = fmt.Errorf("%w; an answer of the service was lost, and a key named %q may have been issued: if it is in the service's console, revoke it there", err, a.clientName)
	}
	return rental.DeviceToken{}, err
}

// maxForeign is how many refusals of something between us and the service end the login.
const maxForeign = 3

// refusedBetween reports that something between us and the service refuses the polls: the base URL may be wrong.
func (a *approval) refusedBetween(err error) bool {
	answer, ok := errors.AsType[*rental.Error](err)
	if ok && answer.Foreign && answer.Status/100 == 4 {
		a.foreign++
	}
	return a.foreign == maxForeign
}

// ask asks once for the key. Its signature is that of poll.Until.
func (a *approval) ask(ctx context.Context) (approved bool, err error) {
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	a.token, err = a.client.CreateDeviceToken(asking, a.deviceCode)
	a.trouble = nil
	switch {
	case err == nil:
		return true, nil
	case rental.HasCode(err, rental.CodeAuthorizationPending):
		a.lost = false
		return false, nil
	case rental.HasCode(err, rental.CodeSlowDown):
		a.lost = false
		a.interval += slower
		return false, nil
	case rental.HasCode(err, rental.CodeAccessDenied):
		a.lost = false
		return false, errDenied
	case rental.HasCode(err, rental.CodeExpiredToken):
		return false, errUsed
	case rental.IsOutcomeUnknown(err):
		a.lost, a.trouble = true, err
		if a.refusedBetween(err) {
			return false, fmt.Errorf("the login failed: %w", err)
		}
		return false, nil
	case rental.IsUnavailable(err), rental.IsRateLimited(err):
		a.trouble = err
		return false, nil
	case ctx.Err() != nil:
		a.trouble = err
		return false, ctx.Err()
	}
	return false, fmt.Errorf("the login failed: %w", err)
}
