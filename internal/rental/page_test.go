package rental

import (
	"fmt"
	"net/http"
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
		next = fmt.Sprintf("%q", cursor)
	}
	return reply{status: 200, body: fmt.Sprintf(`{"data":[%s],"next_cursor":%s}`, strings.Join(entries, ","), next)}
}

func TestList_Pages(t *testing.T) {
	client, s := scriptedClient(t, pageOf("c/1+", "a", "b"), pageOf("c2"), pageOf("", "c"))
	var queries []string
	s.onRequest = func(req *http.Request) { queries = append(queries, req.URL.RawQuery) }
	sequence := client.ListSSHKeys(t.Context(), ListOptions{})
	for range 2 { // a sequence can be ranged over again
		s.count, queries = 0, nil
		keys, err := collect(sequence)
		if diff := cmp.Diff([]SSHKey{{ID: "a"}, {ID: "b"}, {ID: "c"}}, keys); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff([]string{"limit=200", "cursor=c%2F1%2B&limit=200", "cursor=c2&limit=200"}, queries); diff != "" {
			t.Errorf("queries (-want +got):\n%s", diff)
		}
	}
	s.count = 0
	for _, err := range sequence {
		if err != nil || s.attempts() != 1 {
			t.Errorf("%d requests for one entry, %v", s.attempts(), err)
		}
		break
	}
	if s.attempts() != 1 {
		t.Errorf("%d requests after the consumer stopped", s.attempts())
	}
}

// A list ends at an error, and at a cursor that is repeated or empty. An empty page does not end it.
func TestList_Ends(t *testing.T) {
	var empty []reply
	for i := range 100 {
		empty = append(empty, pageOf(fmt.Sprint(i)))
	}
	for name, test := range map[string]struct {
		replies         []reply
		items, requests int
		failed          bool
	}{
		"error": {
			[]reply{pageOf("c1", "a"), {status: 403, body: errorJSON(CodeForbidden)}, pageOf("", "never")}, 1, 2, true,
		},
		"repeated cursor": {
			[]reply{pageOf("c1", "a"), pageOf("c2", "b"), pageOf("c1", "c"), pageOf("", "never")}, 3, 3, true,
		},
		"empty pages":  {append(empty, pageOf("", "a")), 1, 101, false},
		"empty cursor": {[]reply{{status: 200, body: `{"data":[],"next_cursor":""}`}}, 0, 1, false},
	} {
		client, s := scriptedClient(t, test.replies...)
		var errs []error
		items := 0
		for _, err := range client.ListSSHKeys(t.Context(), ListOptions{}) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			items++
		}
		if items != test.items || s.attempts() != test.requests || len(errs) > 1 || (len(errs) == 1) != test.failed {
			t.Errorf("%s: %d items after %d requests: %v", name, items, s.attempts(), errs)
		}
	}
}
