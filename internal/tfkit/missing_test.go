package tfkit

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// The first of concurrent reads has the warning about all that they find missing, in two seconds at most. A later read
// has its own.
func TestWarnMissing_OneForConcurrentReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meta := new(Meta)
		reads := make([]diag.Diagnostics, 41)
		var done sync.WaitGroup
		for i := range reads {
			done.Go(func() {
				time.Sleep(time.Duration(i) * missingPause / 2)
				kind := Text("instance")
				if i == 0 {
					kind = "SSH key"
				}
				meta.WarnMissing(t.Context(), kind, "id", &reads[i])
			})
		}
		done.Wait()
		first := slices.IndexFunc(reads, func(d diag.Diagnostics) bool { return len(d) > 0 })
		warnings := 0
		for _, d := range reads {
			warnings += len(d)
		}
		if first != 0 || warnings != 3 { // the reads take five seconds
			t.Fatalf("%d warnings, the first one in read %d", warnings, first)
		}
		for _, want := range []string{"1 SSH key no longer exists: id.\n", " instances no longer exist: id, id"} {
			if !strings.Contains(reads[0][0].Detail(), want) {
				t.Errorf("no %q in %s", want, reads[0][0].Detail())
			}
		}
	})
}
