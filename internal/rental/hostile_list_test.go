package rental

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A list has limits of its pages, entries and bytes, and MaxPages lowers the first.
func TestList_Limits(t *testing.T) {
	type pages struct{ items, bytes, count int } // size of each page, and how many are read
	for limit, test := range map[string]struct {
		options ListOptions
		pages   pages
	}{
		"20000 entries":  {ListOptions{}, pages{maxPageItems, 1, maxItems/maxPageItems + 1}},
		"32 MiB":         {ListOptions{}, pages{1, maxBody, maxBytes/maxBody + 1}},
		"2500 pages":     {ListOptions{MaxPages: 5000}, pages{1, 1, maxPages}},
		"3 pages":        {ListOptions{MaxPages: 3}, pages{1, 1, 3}},
		"500000 entries": {ListOptions{Stream: true}, pages{maxPageItems, 1, maxStreamItems/maxPageItems + 1}},
		"128 MiB":        {ListOptions{Stream: true}, pages{1, maxBody, maxStreamBytes/maxBody + 1}},
	} {
		progress := newListProgress(test.options)
		var err error
		for i := 0; err == nil; i++ {
			if err = progress.add(test.pages.items, test.pages.bytes); err == nil {
				err = progress.next(strconv.Itoa(i))
			}
		}
		if !IsListTooLong(err) || !strings.HasSuffix(err.Error(), limit) || progress.pages != test.pages.count {
			t.Errorf("%v after %d pages, want more than %s after %d", err, progress.pages, limit, test.pages.count)
		}
	}
}

// A list that ends at a limit is complete. A longer list is an error after the entries up to the limit. Invalid entries
// count.
func TestList_UpToTheLimits(t *testing.T) {
	for name, test := range map[string]struct {
		entry      string
		last       bool // there is no page after the limit
		items      int
		incomplete bool
	}{
		"complete":        {`{"id":"k"},`, true, maxItems, false},
		"incomplete":      {`{"id":"k"},`, false, maxItems, true},
		"invalid entries": {`{"x":"k"},`, false, 0, true},
	} {
		full := strings.TrimSuffix(strings.Repeat(test.entry, maxPageItems), ",")
		client, s := scriptedClient(t)
		for i := range maxItems/maxPageItems + 1 {
			s.replies = append(s.replies, reply{status: 200, body: fmt.Sprintf(`{"data":[%s],"next_cursor":"c%d"}`, full, i)})
		}
		if test.last {
			s.replies[maxItems/maxPageItems-1] = reply{status: 200, body: onePage(full)}
		}
		keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{}))
		if len(keys) != test.items || IsListTooLong(err) != test.incomplete || (err != nil) != test.incomplete {
			t.Errorf("%s: %d keys, %v", name, len(keys), err)
		}
	}
}

// A list of any entries takes at most a few hundred MB.
func TestList_Memory(t *testing.T) {
	const limit = 400 << 20
	urls := strings.TrimSuffix(strings.Repeat(`{},`, (maxValues-10)/2), ",")
	for name, entry := range map[string]string{
		"nearly empty":      `{"id":"i"}`,
		"many empty values": `{"id":"i","urls":[` + urls + `]}`,
		"long texts":        `{"id":"i","name":"` + strings.Repeat("x", 40<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			const size = 512 << 10 // of each page
			entries := min(maxPageItems, size/len(entry))
			body := strings.TrimSuffix(strings.Repeat(entry+",", entries), ",")
			client, _ := scriptedClient(t, reply{status: 200, body: `{"data":[` + body + `],"next_cursor":"c"}`})
			before := heap()
			all, err := collect(client.ListInstances(t.Context(), ListInstancesQuery{ListOptions: ListOptions{MaxPages: 1}}))
			held := heap() - before // by one page
			pages := min(maxItems/entries, maxBytes/(entries*len(entry)))
			t.Logf("one page takes %d KiB, %d pages take %d MiB", held>>10, pages, int64(pages)*held>>20)
			if len(all) != entries || !IsListTooLong(err) || int64(pages)*held > limit {
				t.Errorf("%d instances of %d, %v", len(all), entries, err)
			}
			runtime.KeepAlive(all)
		})
	}
}

func TestList_InvalidPages(t *testing.T) {
	for name, body := range map[string]string{
		"more entries than requested": `{"data":[` + strings.Repeat(`{"id":"k"},`, maxPageItems) +
			`{"id":"k"}],"next_cursor":null}`,
		"a long cursor": `{"data":[{"id":"k"}],"next_cursor":"` + strings.Repeat("c", maxCursor+1) + `"}`,
		"object":        `{"data":{"0":{"id":"k"}},"next_cursor":null}`,
		"string":        `{"data":"k","next_cursor":null}`,
		"null":          `{"data":null,"next_cursor":null}`,
		"incomplete":    `{"data":[{"id":"k"}`,
		"two lists":     `{"data":[],"next_cursor":null}{"data":[],"next_cursor":null}`,
		"nested too deep": `{"data":[{"id":"k","x":` + strings.Repeat("[", 100_000) +
			strings.Repeat("]", 100_000) + `}],"next_cursor":null}`,
	} {
		client, s := scriptedClient(t, reply{status: 200, body: body})
		keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{}))
		if err == nil || s.attempts() != 1 || len(err.Error()) > 2*maxMessage {
			t.Errorf("%s: %d keys, %.300v after %d attempts", name, len(keys), err, s.attempts())
		}
	}
	escaped := `{"id":"k\",\\","name":"[,{,\\\"],"},`
	body := `{"data":[` + strings.Repeat(escaped, maxPageItems-1) + `{"id":"k"}],"next_cursor":null}`
	whole, _ := scriptedClient(t, reply{status: 200, body: body})
	if keys, err := collect(whole.ListSSHKeys(t.Context(), ListOptions{})); err != nil || len(keys) != maxPageItems {
		t.Errorf("%d keys of a page with the maximum size: %v", len(keys), err)
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
	details, jsonErr := json.Marshal(e.Details)
	text := err.Error() + string(details)
	switch {
	case jsonErr != nil:
		t.Errorf("%s: %v", name, jsonErr)
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
