package rental

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pageOf(cursor string, ids ...string) reply {
	body := `{"data":[`
	for i, id := range ids {
		if i > 0 {
			body += ","
		}
		body += fmt.Sprintf(`{"id":%q}`, id)
	}
	if cursor == "" {
		return reply{status: 200, body: body + `],"next_cursor":null}`}
	}
	return reply{status: 200, body: body + fmt.Sprintf(`],"next_cursor":%q}`, cursor)}
}

func TestList_Pages(t *testing.T) {
	client, s := scriptedClient(t, pageOf("c/1+", "a", "b"), pageOf("c2"), pageOf("", "c"))
	var queries []string
	s.onRequest = func(req *http.Request) { queries = append(queries, req.URL.RawQuery) }
	sequence := client.ListSSHKeys(t.Context(), ListOptions{PageSize: 2})
	for range 2 { // a sequence can be ranged over again
		s.count, queries = 0, nil
		keys, err := collect(sequence)
		if diff := cmp.Diff([]SSHKey{{ID: "a"}, {ID: "b"}, {ID: "c"}}, keys); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff([]string{"limit=2", "cursor=c%2F1%2B&limit=2", "cursor=c2&limit=2"}, queries); diff != "" {
			t.Errorf("queries (-want +got):\n%s", diff)
		}
	}
}

func TestList_ConsumerStops(t *testing.T) {
	client, s := scriptedClient(t, pageOf("c1", "a", "b"), pageOf("", "c"))
	for key, err := range client.ListSSHKeys(t.Context(), ListOptions{}) {
		if err != nil || key.ID == "b" {
			break
		}
	}
	if s.attempts() != 1 {
		t.Errorf("%d requests, want 1", s.attempts())
	}
}

func TestList_StopsAtError(t *testing.T) {
	client, s := scriptedClient(t, pageOf("c1", "a"), reply{status: 403, body: errorJSON("forbidden")})
	var ids, errs int
	for _, err := range client.ListSSHKeys(t.Context(), ListOptions{}) {
		if err == nil {
			ids++
		} else if IsForbidden(err) {
			errs++
		}
	}
	if ids != 1 || errs != 1 || s.attempts() != 2 {
		t.Errorf("%d items, %d errors, %d requests; want 1, 1, 2", ids, errs, s.attempts())
	}
}

func TestList_EndlessCursors(t *testing.T) {
	t.Run("repeated cursor", func(t *testing.T) {
		client, s := scriptedClient(t, pageOf("c1", "a"), pageOf("c2", "b"), pageOf("c1", "c"), pageOf("", "never"))
		keys, err := collect(client.ListSSHKeys(t.Context(), ListOptions{}))
		if err == nil || len(keys) != 3 || s.attempts() != 3 {
			t.Errorf("%d items after %d requests: %v", len(keys), s.attempts(), err)
		}
	})
	t.Run("empty pages", func(t *testing.T) {
		var replies []reply
		for i := range 100 {
			replies = append(replies, pageOf(fmt.Sprintf("c%d", i)))
		}
		client, s := scriptedClient(t, replies...)
		if _, err := collect(client.ListSSHKeys(t.Context(), ListOptions{})); err == nil || s.attempts() > maxEmptyPages+1 {
			t.Errorf("%d requests: %v", s.attempts(), err)
		}
	})
	t.Run("empty cursor ends", func(t *testing.T) {
		client, s := scriptedClient(t, reply{status: 200, body: `{"data":[],"next_cursor":""}`})
		if _, err := collect(client.ListSSHKeys(t.Context(), ListOptions{})); err != nil || s.attempts() != 1 {
			t.Errorf("%d requests: %v", s.attempts(), err)
		}
	})
}
