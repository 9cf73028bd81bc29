package rental

import (
	"net/http"
	"strconv"
	"time"
)

const (
	// blind is how many requests may be under way before the first answer has told what is left: as many as a CLI makes in parallel
	// unless it is told otherwise.
	blind = 10

	// share is the part of what is left that one process has under way at most. Several processes spend from one budget and know
	// nothing of one another but what is left: a burst of each must fit.
	share = 4

	// trickle is the pause between two requests where no more may be under way. An answer that hangs must not stop everything.
	trickle = time.Second

	// longestHold bounds how long one answer holds everybody back: the service counts by the minute, so after one the gate would hold
	// back for nothing. The request that was told to wait longer does.
	longestHold = time.Minute

	// rounding is how far whole seconds may be from the truth, in either direction.
	rounding = time.Second

	// epochs is where X-RateLimit-Reset stops to be seconds left and begins to be seconds since 1970.
	epochs = 100_000_000
)

// rate is what is known of a rate budget, from the headers of answers alone: other processes may spend from it, too. Its zero value
// knows nothing, and lets a few requests through to learn.
//
// Two kinds of budget are understood without being told which it is. One is full again at a moment (a window); the other fills
// steadily (a bucket), which shows in that the moment when it is to be full moves away before it has come.
type rate struct {
	told   bool // an answer told what is left
	silent bool // answers tell nothing: only a refusal holds back

	limit  int
	left   int           // at the moment seen, less what was under way then, less what was sent since
	seen   time.Time     // of the answer that told left
	renews span          // when the budget is full again
	pace   time.Duration // in which one request is earned back, where they are earned back steadily; else 0

	kept int // requests that are not for everybody; see Client.Reserve

	held     time.Time // nothing before
	flying   int       // requests under way
	lastSent time.Time
}

// span is when something happens, as near as whole seconds tell.
type span struct{ early, late time.Time }

func (s span) meets(other span) bool {
	return !s.late.Before(other.early) && !other.late.Before(s.early)
}

func (s span) within(other span) span {
	if other.early.After(s.early) {
		s.early = other.early
	}
	if other.late.Before(s.late) {
		s.late = other.late
	}
	return s
}

// next is the first moment at which one more request may be sent, if no answer comes before.
func (r *rate) next(now time.Time) time.Time {
	if now.Before(r.held) {
		return r.held
	}
	room := blind
	switch left := r.available(now) - r.reserve(); {
	case r.silent:
		return now
	case r.told && left >= 1:
		room = max(left/share, 1)
	case r.told && r.pace > 0:
		return now.Add(r.untilEarned(now))
	case r.told && now.Before(r.renews.late):
		return r.renews.late
	case r.told:
		room = 1 // the budget should be full again: one request finds out
	}
	if r.flying < room {
		return now
	}
	return later(now, r.lastSent.Add(trickle))
}

// available is how many requests are left.
func (r *rate) available(now time.Time) int {
	if r.pace <= 0 {
		return r.left
	}
	return min(r.left+int(now.Sub(r.seen)/r.pace), r.limit)
}

// untilEarned is how long it takes until one request is left for everybody.
func (r *rate) untilEarned(now time.Time) time.Duration {
	return time.Duration(1+r.reserve()-r.left)*r.pace - now.Sub(r.seen)
}

// sent counts a request that is on its way.
func (r *rate) sent(now time.Time) {
	r.flying++
	r.left--
	r.lastSent = now
}

// unsent takes a request back that was not made after all.
func (r *rate) unsent() {
	r.flying--
	r.left++
}

// failed counts a request that had no answer. Whether the service has counted it, the next answer tells.
func (r *rate) failed() { r.flying-- }

// answered learns from an answer to a request that was sent at a moment.
func (r *rate) answered(sent, now time.Time, resp *http.Response) {
	r.flying--
	if resp.StatusCode == http.StatusTooManyRequests {
		r.refused(now, resp.Header)
		return
	}
	if cached(resp.Header) {
		return // its headers are those of an earlier answer
	}
	limit, left, renews, ok := readRate(resp.Header, sent, now)
	if !ok {
		r.silent = r.silent || !r.told
		return
	}
	r.silent = false
	next := r.told && renews.early.After(r.renews.late) // of the period after the one that is known
	if next && now.Before(r.renews.early) {
		r.pace = trickle // it moved away before it came; the true pace follows
	}
	if spent := limit - left; r.pace > 0 && spent > 0 {
		r.pace = renews.late.Sub(now) / time.Duration(spent)
	}
	if overlaps := !sent.After(r.seen); r.told && overlaps && (!next || r.pace > 0) {
		// Answers may come in another order than they were made, and requests only get fewer until the budget is renewed.
		// This one was under way when the last answer came, so it was deducted then.
		left = min(left, r.available(now)+r.flying+1)
		if renews.late.Before(r.renews.early) {
			renews = r.renews
		}
	}
	if r.told && r.pace == 0 && renews.meets(r.renews) && sent.Before(r.renews.late) {
		renews = renews.within(r.renews)
	}
	r.told, r.limit, r.left, r.seen, r.renews = true, limit, left-r.flying, now, renews
}

// cached reports whether an answer comes from a cache between the service and the client.
func cached(header http.Header) bool { return header.Get("Age") != "" }

// refused learns from a 429. What was known before is of no use any more.
func (r *rate) refused(now time.Time, header http.Header) {
	wait, ok := retryAfter(header, now)
	if !ok {
		return // the request itself waits, and the next answer may tell more
	}
	until := now.Add(min(wait, longestHold))
	r.held = later(r.held, until)
	r.told, r.silent, r.pace, r.left, r.seen = true, false, 0, -r.flying, now
	r.renews = span{early: r.held, late: r.held}
}

// readRate reads the headers of a rate budget. The moment at which it is full again may be told as seconds left or as an epoch; the
// answer was made between two moments, and told whole seconds.
func readRate(header http.Header, sent, now time.Time) (limit, left int, renews span, ok bool) {
	limit, limitErr := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	left, leftErr := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	reset, resetErr := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	if limitErr != nil || leftErr != nil || resetErr != nil || limit < 1 || left < 0 || left > limit || reset < 0 {
		return 0, 0, span{}, false
	}
	slack := rounding
	if reset >= epochs {
		if reset >= epochs*1000 {
			reset /= 1000 // milliseconds
		}
		service := now
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			service, slack = date, 2*rounding // both in the service's time, in case our clock is wrong
		}
		reset = max(reset-service.Unix(), 0)
	}
	ahead := time.Duration(min(reset, int64(longestHold/time.Second))) * time.Second
	return limit, left, span{early: sent.Add(ahead - slack), late: now.Add(ahead + slack)}, true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
