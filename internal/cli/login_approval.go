package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// slowDownIncrease is added to the poll interval after each slow_down (RFC 8628).
const slowDownIncrease = 5 * time.Second

var (
	errDenied  = errors.New("the login was denied in the browser: run login again if that was a mistake")
	errExpired = errors.New("the code expired before a key arrived: run login again")
	errUsed    = errors.New("the code has expired or was already used: run login again")
)

// approval waits until a user approves a login in a browser.
type approval struct {
	client     *rental.Client
	deviceCode string
	clientName string
	interval   time.Duration // between polls

	token rental.DeviceToken
	// keyLost: a response that may have contained the key did not arrive.
	keyLost bool
	// pollError is the error of the last poll if it shows nothing about the approval; else nil.
	pollError error
}

// wait polls until the login is approved, denied or expired, or ctx ends. If a key arrives while ctx ends, wait returns
// it.
func (a *approval) wait(ctx context.Context, expires time.Time) (rental.DeviceToken, error) {
	waiting, cancel := context.WithDeadline(ctx, expires)
	defer cancel()
	var err error
	for approved := false; !approved && err == nil; {
		if err = backoff.Sleep(waiting, a.interval); err == nil {
			approved, err = a.poll(waiting)
		}
	}
	switch {
	case err == nil:
		return a.token, nil
	case ctx.Err() != nil:
		err = errCancelled
	case errors.Is(err, context.DeadlineExceeded):
		err = errExpired
		if a.pollError != nil {
			err = fmt.Errorf("%w (the last request failed: %w)", err, a.pollError)
		}
	}
	if a.keyLost {
		err = fmt.Errorf("%w; a response was lost, and a key named %q may have been issued: "+
			"after the next login, gpurent_api_keys lists it if so. To revoke it, %s", err, a.clientName, revokeElsewhere)
	}
	return rental.DeviceToken{}, err
}

// poll requests the key once. An error ends the login.
func (a *approval) poll(ctx context.Context) (approved bool, err error) {
	a.token, err = a.client.WithoutRetries().CreateDeviceToken(ctx, a.deviceCode) // the next poll is the retry
	a.pollError = nil
	switch {
	case err == nil:
		return true, nil
	case rental.HasCode(err, rental.CodeAuthorizationPending):
		a.keyLost = false
		return false, nil
	case rental.HasCode(err, rental.CodeSlowDown):
		a.keyLost = false
		a.interval += slowDownIncrease
		return false, nil
	case rental.HasCode(err, rental.CodeAccessDenied):
		a.keyLost = false
		return false, errDenied
	case rental.HasCode(err, rental.CodeExpiredToken):
		return false, errUsed
	case rental.IsOutcomeUnknown(err):
		a.keyLost, a.pollError = true, err
		if apiErr, ok := errors.AsType[*rental.Error](err); !ok || apiErr.Status/100 != 4 { // 4xx of a proxy
			return false, nil
		}
	case rental.IsUnavailable(err), rental.IsRateLimited(err):
		a.pollError = err
		return false, nil
	case ctx.Err() != nil:
		a.pollError = err
		return false, ctx.Err()
	}
	return false, fmt.Errorf("the login failed: %w", err)
}
