package rental

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// endless is a transport whose every page has the same entries and leads to a new one.
type endless struct {
	entries  string
	requests int
}

func (e *endless) RoundTrip(req *http.Request) (*http.Response, error) {
	e.requests++
	body := fmt.Sprintf(`{"data":[%s],"next_cursor":"c%d"}`, e.entries, e.requests)
	return (&scriptedTransport{replies: []reply{{status: 200, body: body}}}).RoundTrip(req)
}

func endlessClient(t *testing.T, entries string) (*Client, *endless) {
	t.Helper()
	service := &endless{entries: entries}
	return newTestClient(t, "https://rent.example/api/v1", func(c *Config) { c.Transport = service }), service
}

// A list whose every page leads to a new one ends, whatever the pages contain.
func TestEndlessListsEnd(t *testing.T) {
	small := strings.TrimSuffix(strings.Repeat(`{"id":"k"},`, maxPageItems), ",")
	padding := strings.Repeat(" ", 4<<20)
	for name, test := range map[string]struct {
		entries  string
		options  ListOptions
		limit    string
		requests int
	}{
		"many entries":          {small, ListOptions{}, "20000 entries", 21},
		"large pages":           {`{"id":"k"}` + padding, ListOptions{}, "32 MiB", 8},
		"unreadable entries":    {strings.ReplaceAll(small, "id", "x"), ListOptions{}, "20000 entries", 21},
		"small pages":           {`{"id":"k"}`, ListOptions{}, "2500 pages", 2500},
		"small pages, streamed": {`{"id":"k"}`, ListOptions{Stream: true}, "2500 pages", 2500},
		"as many as are wanted": {small, ListOptions{MaxPages: 3}, "3 pages", 3},
		"one page":              {small, ListOptions{MaxPages: 1}, "1 pages", 1},
		"not that many":         {`{"id":"k"}`, ListOptions{MaxPages: 5000}, "2500 pages", 2500},
	} {
		t.Run(name, func(t *testing.T) {
			client, service := endlessClient(t, test.entries)
			var last error
			for _, last = range client.ListSSHKeys(t.Context(), test.options) {
				if service.requests > test.requests {
					break
				}
			}
			if !IsListTooLong(last) || !strings.Contains(last.Error(), "more than "+test.limit) || service.requests != test.requests {
				t.Errorf("%.200v after %d requests, want more than %s after %d", last, service.requests, test.limit, test.requests)
			}
		})
	}
}

// A list is no longer than its bound when its last page ends exactly there.
func TestListsUpToTheirBounds(t *testing.T) {
	last := pageOf("", "c")
	client, s := scriptedClient(t, pageOf("c1", "a"), pageOf("c2", "b"), last)
	if keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{MaxPages: 3})); err != nil || len(keys) != 3 {
		t.Errorf("%d keys of %d pages, %v", len(keys), s.attempts(), err)
	}
	full := strings.TrimSuffix(strings.Repeat(`{"id":"k"},`, maxPageItems), ",")
	var replies []reply
	for i := range maxItems/maxPageItems - 1 {
		replies = append(replies, reply{status: 200, body: fmt.Sprintf(`{"data":[%s],"next_cursor":"c%d"}`, full, i)})
	}
	client, _ = scriptedClient(t, append(replies, reply{status: 200, body: fmt.Sprintf(`{"data":[%s],"next_cursor":null}`, full)})...)
	if keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{})); err != nil || len(keys) != maxItems {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

// A streamed list may be longer, and ends, too.
func TestStreamedListsEnd(t *testing.T) {
	for limit, page := range map[string]struct{ items, bytes, pages int }{
		"2500 pages":     {maxStreamItems / maxPages, maxStreamBytes / maxPages, maxPages},
		"500000 entries": {maxPageItems, 1, maxStreamItems/maxPageItems + 1},
		"128 MiB":        {1, maxBody, maxStreamBytes/maxBody + 1},
	} {
		progress := newListProgress(ListOptions{Stream: true})
		var err error
		for i := 0; err == nil; i++ {
			if err = progress.add(page.items, page.bytes); err == nil {
				err = progress.next(strconv.Itoa(i))
			}
		}
		if !IsListTooLong(err) || !strings.HasSuffix(err.Error(), limit) || progress.pages != page.pages {
			t.Errorf("%v after %d pages, want more than %s after %d", err, progress.pages, limit, page.pages)
		}
	}
}

// A caller that keeps a whole list keeps a few hundred megabytes at most, whatever the entries are.
func TestMemoryOfListsIsBounded(t *testing.T) {
	const most = 400 << 20
	urls := strings.TrimSuffix(strings.Repeat(`{},`, (maxValues-10)/2), ",")
	for name, entry := range map[string]string{
		"nearly empty":     `{"id":"i"}`,
		"many empty parts": `{"id":"i","urls":[` + urls + `]}`,
		"long texts":       `{"id":"i","name":"` + strings.Repeat("x", 40<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			const size = 512 << 10 // of a page; all pages have it
			entries := min(maxPageItems, size/len(entry))
			client, _ := endlessClient(t, strings.TrimSuffix(strings.Repeat(entry+",", entries), ","))
			before := heap()
			all, err := collect(client.ListInstances(t.Context(), ListInstancesQuery{ListOptions: ListOptions{MaxPages: 1}}))
			held := heap() - before
			pages := min(maxItems/entries, maxBytes/(entries*len(entry)))
			t.Logf("a page takes %d KiB, and %d pages %d MiB", held>>10, pages, int64(pages)*held>>20)
			if len(all) != entries || !IsListTooLong(err) || int64(pages)*held > most {
				t.Errorf("%d instances of %d, %v", len(all), entries, err)
			}
			runtime.KeepAlive(all)
		})
	}
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}

func TestPagesBeyondMeasureAreRefused(t *testing.T) {
	for name, body := range map[string]string{
		"more than was asked for": `{"data":[` + strings.Repeat(`{"id":"k"},`, maxPageItems) + `{"id":"k"}],"next_cursor":null}`,
		"a long cursor":           `{"data":[{"id":"k"}],"next_cursor":"` + strings.Repeat("c", maxCursor+1) + `"}`,
		"no list":                 `{"data":{"0":{"id":"k"}},"next_cursor":null}`,
		"a text":                  `{"data":"k","next_cursor":null}`,
		"null":                    `{"data":null,"next_cursor":null}`,
		"cut short":               `{"data":[{"id":"k"}`,
		"two answers":             `{"data":[],"next_cursor":null}{"data":[],"next_cursor":null}`,
		"nested too deep":         `{"data":[{"id":"k","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}],"next_cursor":null}`,
	} {
		client, s := scriptedClient(t, reply{status: 200, body: body})
		keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{}))
		if err == nil || s.attempts() != 1 || len(err.Error()) > 2*maxMessage {
			t.Errorf("%s: %d keys, %.300v after %d attempts", name, len(keys), err, s.attempts())
		}
	}
	nasty := `{"id":"k\",\\","name":"[,{,\\\"],"},`
	whole, _ := scriptedClient(t, reply{status: 200, body: `{"data":[` + strings.Repeat(nasty, maxPageItems-1) + `{"id":"k"}],"next_cursor":null}`})
	if keys, err := collect(whole.ListSSHKeys(t.Context(), ListOptions{})); err != nil || len(keys) != maxPageItems {
		t.Errorf("%d keys of a page that is just right: %v", len(keys), err)
	}
}

// Whatever an answer is, each operation takes it for what it is or fails plainly.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		instanceJSON, offerJSON, templateJSON, userJSON, onePage(sshKeyJSON), onePage(instanceJSON), "", "null", "[]", `{"id":"a","ID":"b"}`,
		`{"data":[null]}`, `{"data":{}}`, `{"error":null}`, errorJSON("not_found"), "\xff\xfe", `{"id":"\ud800"}`, `{"price":{"on_demand_kop_h":-1},"id":"a"}`, `{"next_cursor":5}`,
	} {
		for _, status := range []int{200, 201, 204, 404, 422} {
			f.Add(status, body)
		}
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 || status == 429 || status/100 == 5 || status/100 == 3 {
			return // these are the retry matrix's
		}
		client, _ := scriptedClient(t, reply{status: status, body: body})
		for name, do := range retryCalls(t) {
			check(t, name, do(t.Context(), client), status)
		}
		if got, err := client.GetInstance(t.Context(), "a"); err == nil && (got.ID != "a" || got.Price.RunningKopH < 0) {
			t.Errorf("%q passes as %+v", body, got)
		}
		for offer, err := range client.ListOffers(t.Context(), OfferQuery{}) {
			if err == nil && (offer.ID == "" || offer.Price.OnDemandKopH < 0) {
				t.Errorf("%q has %+v", body, offer)
			}
			if err != nil || offer.ID != "" {
				break // a cursor would lead on for long
			}
		}
	})
}

// check holds an error against what all of them promise.
func check(t *testing.T, name string, err error, status int) {
	t.Helper()
	if err == nil {
		if status/100 != 2 {
			t.Errorf("%s: no error for status %d", name, status)
		}
		return
	}
	e := asError(t, err)
	details, jsonErr := json.Marshal(e.Details)
	text := err.Error() + string(details)
	switch {
	case jsonErr != nil:
		t.Errorf("%s: %v", name, jsonErr)
	case strings.ContainsAny(text, "\x1b\x07\r\n\x00"):
		t.Errorf("%s: a terminal would obey %q", name, text)
	case IsNotFound(err) && status/100 == 2:
		t.Errorf("%s: a success is taken for an absence: %v", name, err)
	case status/100 == 2 && name == "with key" && !IsOutcomeUnknown(err):
		t.Errorf("%s: %v leaves no doubt whether a server was rented", name, err)
	}
}

// Headers of a rate budget may say anything; nobody is held back longer than a minute by them.
func FuzzRateHeaders(f *testing.F) {
	for _, seed := range [][4]string{
		{"120", "0", "60", ""}, {"120", "-1", "60", "-5"}, {"0", "0", "0", "0"}, {"9223372036854775807", "9223372036854775807", "9223372036854775807", "1e9"},
		{"120", "120", "99999999999999", "31536000"}, {"NaN", "Inf", "-0", "Mon, 01 Jan 0001 00:00:00 GMT"}, {"1", "0", "100000000", "Fri, 31 Dec 9999 23:59:59 GMT"}, {"", "", "", "\x00"},
		{"120", "0", "50000000", ""}, {"120", "0", "9999999999", ""}, // seconds and an epoch, both years away
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[0] == "0")
		f.Add(seed[0], seed[1], seed[2], seed[3], true)
	}
	f.Fuzz(func(t *testing.T, limit, left, reset, after string, refused bool) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		var estimate rateEstimate
		for range 3 {
			resp := rateAnswer(limit, left, reset, after, refused)
			estimate.onSend(now)
			estimate.onResponse(now, now.Add(time.Millisecond), resp)
			if wait := estimate.next(now).Sub(now); wait > time.Minute+2*time.Second {
				t.Fatalf("held back for %s", wait)
			}
			now = now.Add(time.Second)
		}
		if wait, ok := retryAfter(rateAnswer(limit, left, reset, after, true).Header, now); ok && (wait < 0 || wait > 366*24*time.Hour) {
			t.Errorf("Retry-After %q: %s", after, wait)
		}
	})
}

// What was told to wait for longer than anybody bears is an error at once, and what is told beyond sense is not obeyed.
func TestRetryAfterBeyondMeasure(t *testing.T) {
	for _, after := range []string{"31536000", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		client, s := scriptedClient(t, reply{status: 429, header: "Retry-After: " + after, body: errorJSON(CodeRateLimited)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if _, err := client.GetMe(ctx); !IsRateLimited(err) || s.attempts() != 1 {
			t.Errorf("%s: %v after %d attempts", after, err, s.attempts())
		}
		cancel()
	}
	for _, after := range []string{"-1", "0", "1e3", "soon", "Mon, 01 Jan 1990 00:00:00 GMT"} {
		client, s := scriptedClient(t, reply{status: 429, header: "Retry-After: " + after, body: errorJSON(CodeRateLimited)}, reply{status: 200, body: userJSON})
		if _, err := client.GetMe(t.Context()); err != nil || s.attempts() != 2 {
			t.Errorf("%s: %v after %d attempts", after, err, s.attempts())
		}
	}
}

func rateAnswer(limit, left, reset, after string, refused bool) *http.Response {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}}
	for name, value := range map[string]string{"X-Ratelimit-Limit": limit, "X-Ratelimit-Remaining": left, "X-Ratelimit-Reset": reset, "Retry-After": after} {
		resp.Header[name] = []string{value}
	}
	if refused {
		resp.StatusCode = http.StatusTooManyRequests
	}
	return resp
}
