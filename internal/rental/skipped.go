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

// ReportSkipped calls the function of WithSkipped, if there is one.
func ReportSkipped(ctx context.Context, entry Skipped) {
	if report, ok := ctx.Value(skippedKey{}).(func(Skipped)); ok {
		report(entry)
	}
}

// reportSkipped reports entries with sanitized texts.
func (c *Client) reportSkipped(ctx context.Context, skipped []Skipped) {
	mask := mask{c.apiKey}
	for _, entry := range skipped {
		ReportSkipped(ctx, Skipped{ID: mask.printable(entry.ID, maxRequestID), Err: maskedError{entry.Err, mask}})
	}
}
