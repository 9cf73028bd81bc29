package rental

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"
)

// roundTrip is a transport that calls a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// When a reused connection breaks, net/http sends a request with an idempotency key again. The end of the second one
// shows nothing about the first.
func TestInFlight_AfterReplayByNetHTTP(t *testing.T) {
	for name, second := range map[string]reply{
		"rejected": {status: 402, body: errorJSON(CodeInsufficientFunds)}, "no connection": refused,
	} {
		transport := roundTrip(func(req *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(req.Context())
			trace.GetConn("")
			trace.WroteHeaders()
			trace.WroteHeaders()
			return (&scriptedTransport{replies: []reply{second}}).RoundTrip(req)
		})
		client := newTestClient(t, testURL, func(c *Config) { c.Transport, c.MaxRetries = transport, -1 })
		_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
		if rejected := IsInsufficientFunds(err); !IsInFlight(err) || IsOutcomeUnknown(err) == rejected {
			t.Errorf("%s: %v, in flight %t, outcome unknown %t", name, err, IsInFlight(err), IsOutcomeUnknown(err))
		}
	}
}

// After a lost response the request is in flight for one request timeout, whatever the response to the retry is.
func TestInFlight_AfterLostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := scriptedClient(t,
			reply{err: io.ErrUnexpectedEOF}, reply{status: 402, body: errorJSON(CodeInsufficientFunds)})
		_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
		if !IsInsufficientFunds(err) || !IsInFlight(err) {
			t.Errorf("got %v, in flight %t", err, IsInFlight(err))
		}
		if time.Sleep(DefaultRequestTimeout); IsInFlight(err) {
			t.Errorf("still in flight after %s", DefaultRequestTimeout)
		}
	})
}
