package rental

import "context"

// Skipped is an entry that was left out of a list because it cannot be read, or because its values cannot be right.
type Skipped struct {
	ID  string // of the entry; empty when it has none that can be read
	Err error  // why it was left out
}

type skippedKey struct{}

// WithSkipped returns a context in which every list calls report for each entry that it leaves out.
func WithSkipped(ctx context.Context, report func(Skipped)) context.Context {
	return context.WithValue(ctx, skippedKey{}, report)
}

// ReportSkipped reports an entry to the function of WithSkipped, if any.
func ReportSkipped(ctx context.Context, entry Skipped) {
	if report, ok := ctx.Value(skippedKey{}).(func(Skipped)); ok {
		report(entry)
	}
}

// reportSkipped makes the texts of the service safe to show.
func (c *Client) reportSkipped(ctx context.Context, skipped []Skipped) {
	mask := mask{c.apiKey}
	for _, entry := range skipped {
		ReportSkipped(ctx, Skipped{ID: mask.printable(entry.ID, maxRequestID), Err: maskedError{entry.Err, mask}})
	}
}
