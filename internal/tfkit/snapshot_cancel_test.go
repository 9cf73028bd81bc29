package tfkit

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// A read ends with its context, while a listing is under way and in the pause before the next listing.
func TestSnapshotReadEndsWithItsContext(t *testing.T) {
	for name, test := range map[string]struct{ answer, lag time.Duration }{
		"listing": {answer: time.Hour},
		"pause":   {lag: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := Source[versioned]{
					MaxAge: ListingMaxAge,
					ID:     func(v versioned) string { return v.id },
					Writes: func() uint64 { return 0 },
					Lag:    test.lag,
					All: func(ctx context.Context, _ rental.ListOptions) iter.Seq2[versioned, error] {
						return func(yield func(versioned, error) bool) {
							if sleep(ctx, test.answer); ctx.Err() != nil {
								yield(versioned{}, ctx.Err())
							}
						}
					},
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start := time.Now()
				var s Snapshot[versioned]
				if _, found, err := s.Find(ctx, source, "a"); found || !errors.Is(err, context.Canceled) {
					t.Errorf("found %t, %v", found, err)
				}
				if took := time.Since(start); took != time.Second {
					t.Errorf("it ends after %s", took)
				}
				time.Sleep(2 * time.Hour) // until the listing has ended
			})
		})
	}
}
