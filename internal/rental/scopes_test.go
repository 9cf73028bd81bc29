package rental

import (
	"errors"
	"net/http"
	"testing"
)

// A refused request asks once what the API refuses: everything only if the account is blocked.
func TestError_Blocked(t *testing.T) {
	forbidden := reply{status: http.StatusForbidden, body: errorJSON(CodeForbidden)}
	success := reply{status: http.StatusOK, body: "{}"}
	for name, test := range map[string]struct {
		before   int // successful requests
		replies  []reply
		blocked  bool
		requests int
	}{
		"all refused":        {0, []reply{forbidden}, true, 4},
		"one accepted":       {0, []reply{forbidden, forbidden, success, forbidden}, false, 4},
		"accepted before":    {1, []reply{success, forbidden}, false, 3},
		"not reachable then": {0, []reply{forbidden, {err: errors.New("reset")}, forbidden}, false, 3},
	} {
		client, script := scriptedClient(t, test.replies...)
		for range test.before {
			if _, err := client.GetBalance(t.Context()); err != nil {
				t.Fatal(name, err)
			}
		}
		for range 2 {
			_, err := client.GetMe(t.Context())
			if e, ok := errors.AsType[*Error](err); !ok || e.Blocked != test.blocked || e.Scope != ScopeUserRead {
				t.Errorf("%s: %#v, want blocked: %t", name, err, test.blocked)
			}
		}
		if got := script.attempts(); got != test.requests {
			t.Errorf("%s: %d requests, want %d", name, got, test.requests)
		}
	}
}
