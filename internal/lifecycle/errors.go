package lifecycle

import (
	"errors"
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// ErrorKind is the reason why an instance did not reach its desired state.
type ErrorKind int

// The values of ErrorKind.
const (
	// Gone: the instance was destroyed outside this run.
	Gone ErrorKind = iota + 1
	// NeedsReplacement: the instance failed, or was outbid with the policy OutbidReplace.
	NeedsReplacement
	// Reverted: the API accepted a start or stop, and the instance later returned to its earlier state.
	Reverted
	// OutbidAgain: the instance was outbid after each of Starts starts.
	OutbidAgain
	// NotStarted: a start would cost PriceKopH, which is above LimitKopH, and was not requested.
	NotStarted
	// StoppedAboveCap: after a start the instance cost PriceKopH, which is above LimitKopH, or exceeded a limit of the
	// account, with Burn. The API accepted a stop.
	StoppedAboveCap
	// RunsAboveCap is StoppedAboveCap, but the stop failed with Err. The instance probably runs.
	RunsAboveCap
	// Refused: the API refused a start or stop because of the status of the instance, with Err.
	Refused
	// Interrupted: the context ended first, with Err. Cause is the error of the last read, or nil. Missing are the
	// conditions that the instance did not meet.
	Interrupted
	// Rejected: the caller's Accept returned false.
	Rejected
)

// Error is the reason why an instance did not reach its desired state.
type Error struct {
	Kind      ErrorKind
	Wanted    rental.DesiredState
	PriceKopH int64           // kopecks per hour
	LimitKopH int64           // kopecks per hour
	Burn      *spending.Error // nil: LimitKopH is exceeded
	Starts    int
	Err       error
	Cause     error
	Missing   []Missing
}

// Error is a short text for logs. Callers translate Kind into a message for users.
func (e *Error) Error() string {
	text := fmt.Sprintf("the instance is not %s: %s", e.Wanted, e.Kind)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// String returns a short text for logs.
func (k ErrorKind) String() string {
	return [...]string{
		"none", "destroyed elsewhere", "needs a replacement", "reverted", "outbid again",
		"not started above the price cap",
		"stopped above the price cap", "runs above the price cap", "refused", "interrupted", "rejected",
	}[k]
}

// KindOf returns the kind of an error, 0 if it is not an Error.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}
