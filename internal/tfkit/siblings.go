package tfkit

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

const (
	// siblingWait bounds how long a plan waits for the plans of other resources: Terraform reads and plans the resources
	// of a configuration concurrently and in any order.
	siblingWait = time.Second
	// siblingInterval is the pause between two checks.
	siblingInterval = 20 * time.Millisecond
)

// AwaitSiblings waits until done returns true, because another resource of the plan has been read or planned, at most a
// second. It reports whether done returned true.
func AwaitSiblings(ctx context.Context, done func() bool) bool {
	for wait := siblingWait; ; wait -= siblingInterval {
		if done() {
			return true
		}
		if wait <= 0 || backoff.Sleep(ctx, siblingInterval) != nil {
			return false
		}
	}
}
