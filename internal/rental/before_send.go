package rental

import (
	"context"
	"net/http"
	"time"
)

type (
	beforeSendKey struct{}
	beforeSend    func(context.Context) error
)

// BeforeSend returns a context in which a write calls check right before it is sent, after it has waited for the
// request limit. If check fails, nothing is sent, and the error of the write is NotSent. After a response was lost,
// check is not called again, because the API may have performed the write. The requests of check itself do not wait for
// the request limit. A nil check removes that of ctx.
func BeforeSend(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, beforeSendKey{}, beforeSend(check))
}

type checkingKey struct{}

// setBeforeSend takes the check from the context of a call.
func (c *call) setBeforeSend(ctx context.Context) {
	switch check, _ := ctx.Value(beforeSendKey{}).(beforeSend); {
	case ctx.Value(checkingKey{}) != nil:
		c.urgent = true
	case c.method != http.MethodGet:
		c.beforeSend = check
	}
}

// NotSent means that a write was not sent, because the check before it failed with Err. It does not unwrap Err, which
// can be the error of another request.
type NotSent struct{ Err error }

func (e NotSent) Error() string { return e.Err.Error() }

// check calls the check of a call unless the API may have performed an earlier attempt.
func (l *rateLimitLayer) check(limiter *limiter, req *http.Request) error {
	call := callFrom(req.Context())
	if call.beforeSend == nil || !call.inFlightUntil.IsZero() {
		return nil
	}
	if err := call.beforeSend(context.WithValue(req.Context(), checkingKey{}, true)); err != nil {
		limiter.done(time.Now(), time.Now(), nil)
		return NotSent{err}
	}
	return nil
}
