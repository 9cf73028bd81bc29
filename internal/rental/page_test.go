package rental

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pageOf(cursor string, ids ...string) reply {
	var entries []string
	for _, id := range ids {
		entries = append(entries, fmt.Sprintf(`{"id":%q}`, id))
	}
	next := "null"
	if cursor != "" {
		next = strconv.Quote(cursor)
	}
	return ok(fmt.Sprintf(`{"data":[%s],"next_cursor":%s}`, strings.Join(entries, ","), next))
}

func TestList_Pages(t *testing.T) {
	pages := []reply{pageOf("c/1+", "a", "b"), pageOf("c2"), pageOf("", "c")}
	var queries []string
	s := &script{answer: func(req *http.Request, n int) reply {
		queries = append(queries, req.URL.RawQuery)
		return pages[n%3]
	}}
	sequence := newTestClient(t, s).ListSSHKeys(t.Context(), ListOptions{})
	keys, err := collect(sequence)
	if diff := cmp.Diff([]SSHKey{{ID: "a"}, {ID: "b"}, {ID: "c"}}, keys); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"limit=200", "cursor=c%2F1%2B&limit=200", "cursor=c2&limit=200"}, queries); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	for _, err := range sequence { // a sequence can be ranged over again, and reads no page after the consumer stops
		if err != nil {
			t.Error(err)
		}
		break
	}
	if s.attempts() != 4 {
		t.Errorf("%d requests, want one more for the first entry of three pages", s.attempts())
	}
}

// A list ends at an error, and at a cursor that is repeated or empty. An empty page does not end it.
func TestList_Ends(t *testing.T) {
	var empty []reply
	for i := range 100 {
		empty = append(empty, pageOf(fmt.Sprint(i)))
	}
	never := pageOf("", "never")
	for name, test := range map[string]struct {
		replies         []reply
		items, requests int
		failed          bool
	}{
		"error":           {[]reply{pageOf("c1", "a"), failed(CodeForbidden), never}, 1, 2, true},
		"repeated cursor": {[]reply{pageOf("c1", "a"), pageOf("c2", "b"), pageOf("c1", "c"), never}, 3, 3, true},
		"empty pages":     {append(empty, pageOf("", "a")), 1, 101, false},
		"empty cursor":    {[]reply{ok(`{"data":[],"next_cursor":""}`)}, 0, 1, false},
	} {
		client, s := scriptedClient(t, test.replies...)
		items, errs := 0, 0
		for _, err := range client.ListSSHKeys(t.Context(), ListOptions{}) {
			if err != nil {
				errs++
				continue
			}
			items++
		}
		if items != test.items || s.attempts() != test.requests || errs > 1 || (errs == 1) != test.failed {
			t.Errorf("%s: %d items and %d errors after %d requests", name, items, errs, s.attempts())
		}
	}
}

// A list has at most 2500 pages, and MaxPages lowers that. A list that ends at its limit is complete.
func TestList_MaxPages(t *testing.T) {
	for _, test := range []struct{ limit, pages, read int }{
		{0, maxPages + 1, maxPages}, {5000, maxPages + 1, maxPages}, {3, 4, 3}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1},
	} {
		s := &script{answer: func(_ *http.Request, n int) reply {
			if n+1 == test.pages {
				return pageOf("", "k")
			}
			return pageOf(strconv.Itoa(n), "k")
		}}
		keys, err := collect(newTestClient(t, s).ListSSHKeys(t.Context(), ListOptions{MaxPages: test.limit}))
		if len(keys) != test.read || IsListTooLong(err) != (test.pages > test.read) || s.attempts() != test.read {
			t.Errorf("%+v: %d keys after %d requests: %v", test, len(keys), s.attempts(), err)
		}
	}
}

// Invalid entries are skipped and reported. Entries with unknown values are valid.
func TestList_SkipsInvalidEntries(t *testing.T) {
	const price = `"price":{"running_kop_h":1,"stopped_kop_h":1}`
	entries := []string{
		`{"id":"ok",` + price + `,"gpu":{"count":1}}`,
		`{"id":"unknown values",` + price +
			`,"status":"thawing","type":"lease","template":null,"gpu":null,"ssh":null,"urls":null,"stop_reason":"moon"}`,
		`{"id":"negative","price":{"running_kop_h":-5}}`,
		`{"id":"wrong type","price":{"running_kop_h":1.5}}`,
		`{"id":"wrong object",` + price + `,"gpu":[]}`,
		`{` + price + `}`, `{"id":null,` + price + `}`, `{"id":7,` + price + `}`, `null`, `5`, `[]`, `"x"`,
		`{"id":"last",` + price + `}`,
	}
	client, _ := scriptedClient(t, ok(onePage(strings.Join(entries, ","))))
	var skipped []Skipped
	query := ListInstancesQuery{ListOptions: ListOptions{Skipped: &skipped}}
	instances, err := collect(client.ListInstances(t.Context(), query))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, instance := range instances {
		ids = append(ids, instance.ID)
	}
	for _, s := range skipped {
		if ids = append(ids, s.ID); s.Err == nil || s.Err.Error() == "" {
			t.Errorf("%q is skipped without an error", s.ID)
		}
	}
	want := []string{
		"ok", "unknown values", "last", // listed
		"negative", "wrong type", "wrong object", "", "", "", "", "", "", "", // skipped
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
