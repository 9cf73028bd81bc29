package rental

import (
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
)

var quiet = log.New(io.Discard, "", 0)

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Error(err)
	}
}

func TestBodyLimits(t *testing.T) {
	get := func(c *Client) error { _, err := c.GetMe(t.Context()); return err }
	create := func(c *Client) error { _, err := c.CreateTemplate(t.Context(), TemplateCreate{}); return err }
	for name, test := range map[string]struct {
		status, size int
		do           func(*Client) error
		want         string // in the error; empty for success
	}{
		"large":            {200, maxBody - 100, get, ""},
		"too large":        {200, maxBody, get, "8192 KiB"},
		"too large error":  {404, maxErrorBody, get, "64 KiB"},
		"too large create": {201, maxBody, create, "8192 KiB"},
	} {
		body := `{"id":"` + strings.Repeat("x", test.size) + `"}`
		client, _ := scriptedClient(t, reply{status: test.status, body: body})
		err := test.do(client)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || IsNotFound(err) ||
			IsOutcomeUnknown(err) != (test.status == http.StatusCreated) {
			t.Errorf("%s: %v, outcome unknown %t", name, err, IsOutcomeUnknown(err))
		}
	}
}

// The API has no redirects: the error names the target. TestRetryMatrix has the outcome.
func TestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for location, target := range map[string]string{
			"https://other.example/x": "https://other.example", "/api/v1/balance": testURL[:len(testURL)-len(versionSuffix)],
			"http://[bad": "an invalid address",
		} {
			client, s := scriptedClient(t, reply{status: status, header: "Location: " + location})
			_, err := client.CreateTemplate(t.Context(), TemplateCreate{})
			if e := asError(t, err); e.Status != status || s.attempts() != 1 || !strings.HasSuffix(e.Message, "to "+target) {
				t.Errorf("%d to %s: %+v after %d attempts", status, location, e, s.attempts())
			}
		}
	}
}

// The transport pings idle HTTP/2 connections, because a connection that breaks silently would fail every call. It
// keeps a connection for each call of a large apply.
func TestHTTPTransport_Settings(t *testing.T) {
	transport := defaultTransport(t, testURL)
	if transport.HTTP2.SendPingTimeout != pingTimeout || transport.HTTP2.PingTimeout != pingTimeout ||
		transport.MaxIdleConnsPerHost < 50 {
		t.Errorf("got %+v", transport)
	}
}
