package rental

// Skipped is an entry that is missing in a list because it cannot be decoded or has invalid values.
type Skipped struct {
	ID  string // of the entry; empty if unknown
	Err error  // why it was skipped
}

// reportSkipped appends entries with sanitized texts to Skipped, if it is set.
func (o ListOptions) reportSkipped(mask mask, skipped []Skipped) {
	if o.Skipped == nil {
		return
	}
	for _, entry := range skipped {
		*o.Skipped = append(*o.Skipped,
			Skipped{ID: mask.printable(entry.ID, maxRequestID), Err: maskedError{entry.Err, mask}})
	}
}
