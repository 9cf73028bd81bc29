package simulator

import (
	"cmp"
	"container/heap"
	"time"
)

// The order of events at one instant.
const (
	priorityTransition = iota
	priorityPosting
	priorityFunds
	priorityMarket
)

// event is a scheduled change. Its owner holds it and schedules it again after it has run.
type event struct {
	at       time.Time
	priority int
	// seq orders events of one priority at one instant.
	seq int64
	run func()
	// index is the position in the queue plus one; 0 means not scheduled.
	index int
}

// eventQueue is a heap of the scheduled events.
type eventQueue []*event

func (q eventQueue) Len() int { return len(q) }

func (q eventQueue) Less(a, b int) bool {
	return cmp.Or(q[a].at.Compare(q[b].at), q[a].priority-q[b].priority, cmp.Compare(q[a].seq, q[b].seq)) < 0
}

func (q eventQueue) Swap(a, b int) {
	q[a], q[b] = q[b], q[a]
	q[a].index, q[b].index = a+1, b+1
}

func (q *eventQueue) Push(x any) {
	t := x.(*event)
	*q = append(*q, t)
	t.index = len(*q)
}

func (q *eventQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.index = 0
	return t
}

// schedule makes the event run once at an instant; the zero time cancels it.
func (q *eventQueue) schedule(t *event, at time.Time) {
	switch {
	case t.index > 0 && at.IsZero():
		heap.Remove(q, t.index-1)
	case t.index > 0 && !at.Equal(t.at):
		t.at = at
		heap.Fix(q, t.index-1)
	case t.index == 0 && !at.IsZero():
		t.at = at
		heap.Push(q, t)
	}
}

// next removes and returns the next event up to an instant, nil if there is none.
func (q *eventQueue) next(by time.Time) *event {
	if len(*q) == 0 || (*q)[0].at.After(by) {
		return nil
	}
	first := (*q)[0]
	heap.Pop(q)
	return first
}
