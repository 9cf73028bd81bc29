package simulator

import (
	"cmp"
	"container/heap"
	"time"
)

// The order of what is due at one instant.
const (
	rankTransition = iota
	rankPosting
	rankExhaustion
	rankMarket
)

// timer is something that will happen by itself. Whoever it belongs to holds it, and sets it anew when it has fired.
type timer struct {
	at   time.Time
	rank int
	// seq orders timers of one rank at one instant.
	seq  int64
	fire func()
	// index is the place in the timeline plus one; 0 means that nothing is due.
	index int
}

// timeline is the timers that are set, the first one on top.
type timeline []*timer

func (l timeline) Len() int { return len(l) }

func (l timeline) Less(a, b int) bool {
	return cmp.Or(l[a].at.Compare(l[b].at), l[a].rank-l[b].rank, cmp.Compare(l[a].seq, l[b].seq)) < 0
}

func (l timeline) Swap(a, b int) {
	l[a], l[b] = l[b], l[a]
	l[a].index, l[b].index = a+1, b+1
}

func (l *timeline) Push(x any) {
	t, ok := x.(*timer)
	if !ok {
		panic("simulator: only timers go into the timeline")
	}
	*l = append(*l, t)
	t.index = len(*l)
}

func (l *timeline) Pop() any {
	last := len(*l) - 1
	t := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	t.index = 0
	return t
}

// set makes the timer fire at an instant, once; the zero instant means never.
func (l *timeline) set(t *timer, at time.Time) {
	switch {
	case t.index > 0 && at.IsZero():
		heap.Remove(l, t.index-1)
	case t.index > 0 && !at.Equal(t.at):
		t.at = at
		heap.Fix(l, t.index-1)
	case t.index == 0 && !at.IsZero():
		t.at = at
		heap.Push(l, t)
	}
}

// due takes off the next timer that is due by an instant; nil when none is.
func (l *timeline) due(by time.Time) *timer {
	if len(*l) == 0 || (*l)[0].at.After(by) {
		return nil
	}
	first := (*l)[0]
	heap.Pop(l)
	return first
}
