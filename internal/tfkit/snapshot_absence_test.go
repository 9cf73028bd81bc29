package tfkit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// lister is a service that only lists, with entries that cannot be read.
type lister struct {
	ids     []string
	skipped []rental.Skipped
	lists   int
	late    map[string]time.Time // since when a listing contains an id
}

func (l *lister) source() Source[string] {
	return Source[string]{
		MaxAge: ListingMaxAge,
		ID:     func(id string) string { return id },
		Writes: func() uint64 { return 0 },
		All: func(ctx context.Context, _ rental.ListOptions) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) {
				l.lists++
				for _, entry := range l.skipped {
					rental.ReportSkipped(ctx, entry)
				}
				for _, id := range l.ids {
					if time.Now().Before(l.late[id]) {
						continue
					}
					if !yield(id, nil) {
						return
					}
				}
			}
		},
	}
}

// What a state has counts as gone only when listings have lacked it for as long as they may lag.
func TestSnapshotConfirmsAbsence(t *testing.T) {
	const lag = 15 * time.Second
	for name, test := range map[string]struct {
		late  time.Duration
		found bool
		took  time.Duration
	}{
		"listed":         {0, true, 0},
		"listed late":    {lag - time.Second, true, lag},
		"never listed":   {time.Hour, false, lag},
		"at second look": {time.Second, true, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lister{ids: []string{"a", "b"}, late: map[string]time.Time{"b": time.Now().Add(test.late)}}
				source := l.source()
				source.Lag = lag
				var s Snapshot[string]
				start := time.Now()
				if _, found, err := s.Find(t.Context(), source, "b"); err != nil || found != test.found {
					t.Errorf("found %t, %v; want %t", found, err, test.found)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
				start, l.lists = time.Now(), 0
				if _, found, err := s.Find(t.Context(), source, "c"); !test.found && (found || err != nil || l.lists > 1 || time.Since(start) > 0) {
					t.Errorf("another one that is gone: found %t, %v after %d listings and %s", found, err, l.lists, time.Since(start))
				}
			})
		})
	}
}

// What this process has created is there, although no listing contains it yet, until this process deletes it.
func TestSnapshotKnowsWhatWasCreated(t *testing.T) {
	l := &lister{}
	var s Snapshot[string]
	s.Created("b", "b")
	if item, found, err := s.Find(t.Context(), l.source(), "b"); err != nil || !found || item != "b" {
		t.Errorf("created: %q, %t, %v", item, found, err)
	}
	s.Deleted("b")
	if _, found, err := s.Find(t.Context(), l.source(), "b"); err != nil || found {
		t.Errorf("deleted: %t, %v", found, err)
	}
}

// An entry that cannot be read breaks the read of that very thing only; one without an id keeps what is not listed from counting as gone.
func TestSnapshotWithUnreadableEntries(t *testing.T) {
	strange := errors.New("strange")
	l := &lister{ids: []string{"a"}, skipped: []rental.Skipped{{ID: "b", Err: strange}}}
	var s Snapshot[string]
	if _, found, err := s.Find(t.Context(), l.source(), "a"); err != nil || !found {
		t.Errorf("another thing: %t, %v", found, err)
	}
	if _, _, err := s.Find(t.Context(), l.source(), "b"); !errors.Is(err, strange) {
		t.Errorf("the thing itself: %v", err)
	}
	if _, found, err := s.Find(t.Context(), l.source(), "c"); err != nil || found {
		t.Errorf("what is gone: %t, %v", found, err)
	}
	l.skipped = append(l.skipped, rental.Skipped{Err: strange})
	var other Snapshot[string]
	if _, _, err := other.Find(t.Context(), l.source(), "c"); !errors.Is(err, strange) {
		t.Errorf("what may be the entry without an id: %v", err)
	}
}

// A person who reads a list sees what was left out of it.
func TestSkippedEntriesAreNamed(t *testing.T) {
	l := &lister{ids: []string{"a"}}
	for i := range maxTold + 2 {
		l.skipped = append(l.skipped, rental.Skipped{ID: fmt.Sprintf("id%d\x1b[2J", i), Err: errors.New("strange")})
	}
	ctx, skipped := CollectSkipped(t.Context())
	var s Snapshot[string]
	if items, err := s.List(ctx, l.source()); err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	var diags diag.Diagnostics
	skipped.Warn(&diags, "things")
	if len(diags) != 1 || diags[0].Severity() != diag.SeverityWarning || diags[0].Summary() != "Some things cannot be read" {
		t.Fatalf("got %v", diags)
	}
	for _, want := range []string{"(12)", "id0", "id9", "and 2 more", "strange"} {
		if detail := diags[0].Detail(); !strings.Contains(detail, want) || strings.ContainsRune(detail, 0x1b) {
			t.Errorf("%q is not in %q, or an escape is", want, detail)
		}
	}
}
