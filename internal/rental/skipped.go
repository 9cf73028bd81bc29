package rental

import "context"

// Skipped is an entry that is missing in a list because it cannot be decoded or has invalid values.
type Skipped struct {
	ID  string // of the entry; empty if unknown
	Err error  // why it was skipped
}

type skippedKey struct{}

// WithSkipped returns a context in which lists call report for each entry that they skip.
func WithSkipped(ctx context.Context, report func(Skipped)) context.Context {
	return context.WithValue(ctx, skippedKey{}, report)
}

// reportSkipped calls the function of WithSkipped, if there is one, with sanitized texts.
func reportSkipped(ctx context.Context, mask mask, skipped []Skipped) {
	report, ok := ctx.Value(skippedKey{}).(func(Skipped))
	if !ok {
		return
	}
	for _, entry := range skipped {
		report(Skipped{ID: mask.printable(entry.ID, maxRequestID), Err: maskedError{entry.Err, mask}})
	}
}
