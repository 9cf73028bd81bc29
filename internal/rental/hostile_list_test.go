package rental

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A list has at most 2500 pages, and MaxPages lowers that.
func TestList_MaxPages(t *testing.T) {
	for limit, pages := range map[int]int{0: maxPages, 5000: maxPages, 3: 3, 1: 1} {
		client, s := scriptedClient(t)
		for i := range pages + 1 {
			s.replies = append(s.replies, pageOf(strconv.Itoa(i), "k"))
		}
		keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{MaxPages: limit}))
		if len(keys) != pages || !IsListTooLong(err) || s.attempts() != pages {
			t.Errorf("%d keys of %d pages after %d requests: %v", len(keys), pages, s.attempts(), err)
		}
		s.count, s.replies[pages-1] = 0, pageOf("", "k")
		keys, err = collect(client.ListSSHKeys(t.Context(), ListOptions{MaxPages: limit}))
		if len(keys) != pages || err != nil {
			t.Errorf("%d keys of a list that ends at its limit: %v", len(keys), err)
		}
	}
}

func TestList_InvalidPages(t *testing.T) {
	for name, body := range map[string]string{
		"object":     `{"data":{"0":{"id":"k"}},"next_cursor":null}`,
		"string":     `{"data":"k","next_cursor":null}`,
		"null":       `{"data":null,"next_cursor":null}`,
		"incomplete": `{"data":[{"id":"k"}`,
		"two lists":  `{"data":[],"next_cursor":null}{"data":[],"next_cursor":null}`,
		"nested too deep": `{"data":[{"id":"k","x":` + strings.Repeat("[", 100_000) +
			strings.Repeat("]", 100_000) + `}],"next_cursor":null}`,
	} {
		client, s := scriptedClient(t, reply{status: 200, body: body})
		keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{}))
		if err == nil || s.attempts() != 1 || len(err.Error()) > 2*maxMessage {
			t.Errorf("%s: %d keys, %.300v after %d attempts", name, len(keys), err, s.attempts())
		}
	}
}

// Every body is either decoded or an error with sanitized texts.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		instanceJSON, offerJSON, templateJSON, userJSON, onePage(sshKeyJSON), onePage(instanceJSON), "", "null", "[]",
		`{"id":"a","ID":"b"}`,
		`{"data":[null]}`, `{"data":{}}`, `{"error":null}`, errorJSON("not_found"), "\xff\xfe", `{"id":"\ud800"}`,
		`{"price":{"on_demand_kop_h":-1},"id":"a"}`, `{"next_cursor":5}`, `{"id":"a"`,
	} {
		for _, status := range []int{200, 201, 204, 404, 422} {
			f.Add(status, body)
		}
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 || status == 429 || status/100 == 5 || status/100 == 3 {
			return // see TestRetryMatrix
		}
		client, _ := scriptedClient(t, reply{status: status, body: body})
		for _, op := range operations(t) {
			_, err := op.do(t.Context(), client)
			checkError(t, op.id, err, status)
		}
		created, _, err := client.CreateInstance(t.Context(), "key", InstanceCreate{})
		if err != nil && status/100 == 2 && IsOutcomeUnknown(err) != (created.ID == "") {
			t.Errorf("with id %q, outcome unknown is %t: %v", created.ID, IsOutcomeUnknown(err), err)
		}
		if got, err := client.GetInstance(t.Context(), "a"); err == nil && (got.ID != "a" || got.Price.RunningKopH < 0) {
			t.Errorf("%q is decoded as %+v", body, got)
		}
		for offer, err := range client.ListOffers(t.Context(), OfferQuery{}) {
			if err == nil && (offer.ID == "" || offer.Price.OnDemandKopH < 0) {
				t.Errorf("%q is decoded as %+v", body, offer)
			}
			if err != nil || offer.ID != "" {
				break // the list may be long
			}
		}
	})
}

// checkError checks what holds for all errors.
func checkError(t *testing.T, name string, err error, status int) {
	t.Helper()
	if err == nil {
		if status/100 != 2 {
			t.Errorf("%s: no error for status %d", name, status)
		}
		return
	}
	e := asError(t, err)
	text := fmt.Sprint(err, e.Reason, e.Issues)
	switch {
	case strings.ContainsAny(text, "\x1b\x07\r\n\x00"):
		t.Errorf("%s: control characters in %q", name, text)
	case IsNotFound(err) && status/100 == 2:
		t.Errorf("%s: IsNotFound for a success: %v", name, err)
	}
}

// Rate-limit headers of any content block requests for a minute at most.
func FuzzRateHeaders(f *testing.F) {
	for _, seed := range [][4]string{
		{"120", "0", "60", ""}, {"120", "-1", "60", "-5"}, {"0", "0", "0", "0"},
		{"9223372036854775807", "9223372036854775807", "9223372036854775807", "1e9"},
		{"120", "120", "99999999999999", "31536000"}, {"NaN", "Inf", "-0", "Mon, 01 Jan 0001 00:00:00 GMT"},
		{"1", "0", "100000000", "Fri, 31 Dec 9999 23:59:59 GMT"}, {"", "", "", "\x00"},
		{"120", "0", "50000000", ""}, {"120", "0", "9999999999", ""}, // seconds and a time, both years ahead
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[0] == "0")
		f.Add(seed[0], seed[1], seed[2], seed[3], true)
	}
	f.Fuzz(func(t *testing.T, limit, left, reset, after string, refused bool) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		l := newLimiter(limitPerKey)
		for range 3 {
			resp := rateResponse(limit, left, reset, after, refused)
			l.done(now, now.Add(time.Millisecond), resp)
			if wait := l.take(now.Add(time.Millisecond)); wait > time.Minute {
				t.Fatalf("blocked for %s", wait)
			}
			now = now.Add(time.Second)
		}
		if wait, ok := retryAfter(rateResponse(limit, left, reset, after, true).Header, now); ok &&
			(wait < 0 || wait > 366*24*time.Hour) {
			t.Errorf("Retry-After %q: %s", after, wait)
		}
	})
}

func rateResponse(limit, left, reset, after string, refused bool) *http.Response {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}}
	for name, value := range map[string]string{
		"X-Ratelimit-Limit": limit, "X-Ratelimit-Remaining": left, "X-Ratelimit-Reset": reset, "Retry-After": after,
	} {
		resp.Header[name] = []string{value}
	}
	if refused {
		resp.StatusCode = http.StatusTooManyRequests
	}
	return resp
}
