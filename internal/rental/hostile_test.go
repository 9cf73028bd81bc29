package rental

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The servers in this file are malicious or broken. Every call must end.

// A body is read up to the limit, even if it does not end or is small because it is compressed.
func TestResponse_EndlessBody(t *testing.T) {
	for name, encoding := range map[string]string{"endless": "identity", "gzip bomb": "gzip"} {
		client := newServerClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			body := io.Writer(w)
			if encoding == "gzip" {
				body = gzip.NewWriter(w)
			}
			block := bytes.Repeat([]byte("{"), 1<<20)
			for err := error(nil); err == nil; {
				_, err = body.Write(block)
			}
		}, func(c *Config) { c.MaxRetries = -1 })
		if _, err := client.GetMe(t.Context()); err == nil || !strings.Contains(err.Error(), "8192 KiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pipeTransport returns a transport whose connections are served by a function, without a network.
func pipeTransport(serve func(net.Conn)) *http.Transport {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			// The request does not matter, but a response before it would be an error.
			if _, err := server.Read(make([]byte, 1)); err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, server) }() //nolint:errcheck // see above
			serve(server)
		}()
		return client, nil
	}}
}

// sendSlowly sends a text and then one byte per second.
func sendSlowly(begin string) func(net.Conn) {
	return func(conn net.Conn) {
		_, err := io.WriteString(conn, begin)
		for err == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(conn, "1")
		}
	}
}

// The request timeout limits the whole attempt, even if bytes arrive all the time.
func TestRequestTimeout_SlowResponses(t *testing.T) {
	for name, begin := range map[string]string{
		"nothing":     "",
		"status line": "HTTP/1.",
		"header":      "HTTP/1.1 200 OK\r\nX-Slow: ",
		"body":        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
		"chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"hints":       strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 3),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := pipeTransport(sendSlowly(begin))
				client := newTestClient(t, testURL, func(c *Config) {
					c.Transport, c.RequestTimeout, c.MaxRetries = plainHTTP{transport}, 4*time.Second, 1
				})
				start := time.Now()
				_, err := client.GetMe(t.Context())
				if took := time.Since(start); took > 8*time.Second || !IsUnavailable(err) ||
					errors.Is(err, context.DeadlineExceeded) || name == "body" && !strings.Contains(err.Error(), "within 4s") {
					t.Errorf("after %s: %v; want IsUnavailable after at most twice 4 s", took, err)
				}
				if _, err := client.CreateAPIKey(t.Context(), APIKeyCreate{}); !IsOutcomeUnknown(err) {
					t.Errorf("a create: %v, want an unknown outcome", err)
				}
				transport.CloseIdleConnections()
				time.Sleep(2 * time.Second) // until sendSlowly notices the closed connection
			})
		})
	}
}

// plainHTTP sends https requests without TLS.
type plainHTTP struct{ next http.RoundTripper }

func (p plainHTTP) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme = "http"
	return p.next.RoundTrip(req)
}

// A response with the id of another object is an error: the state would contain another server.
func TestResponse_OtherID(t *testing.T) {
	checked := 0
	for _, op := range operations(t) {
		switch op.want.(type) {
		case Instance, Offer:
			if op.id == "createInstance" {
				continue
			}
			checked++
			other := strings.Replace(op.response, `"id":"`, `"id":"other `, 1)
			client, s := scriptedClient(t, reply{status: op.status, body: other})
			_, err := op.do(t.Context(), client)
			if err == nil || IsNotFound(err) || s.attempts() != 1 || !strings.Contains(err.Error(), "another") {
				t.Errorf("%s: %v after %d attempts; want an error about the id", op.id, err, s.attempts())
			}
		}
	}
	if checked != 6 {
		t.Errorf("%d operations return an object by its id, want 6", checked)
	}
	for _, body := range []string{
		`{"id":"a","ID":"b"}`, `{"id":"a","id":"b"}`, `{"id":"\ud800"}`, `{"id":null}`, `{"id":["a"]}`,
	} {
		client, _ := scriptedClient(t, reply{status: 200, body: body})
		if got, err := client.GetInstance(t.Context(), "a"); err == nil {
			t.Errorf("%s is decoded as %+v", body, got)
		}
	}
}

// Every price and amount is checked.
func TestResponse_InvalidPrices(t *testing.T) {
	for _, test := range []struct {
		into     func() any
		body     string // with the field and its value
		fields   []string
		negative bool // negative values are valid
	}{
		{
			func() any { return new(Offer) }, `{"id":"a","price":{"on_demand_kop_h":1,"%s":%s}}`,
			[]string{"on_demand_kop_h", "interruptible_kop_h", "storage_kop_gb_month", "traffic_kop_gb"}, false,
		},
		{
			func() any { return new(Instance) }, `{"id":"a","price":{"%s":%s}}`,
			[]string{"running_kop_h", "stopped_kop_h", "traffic_kop_gb"}, false,
		},
		{
			func() any { return new(GPUModel) }, `{"slug":"a","%s":%s}`,
			[]string{"from_kop_h", "from_interruptible_kop_h"}, false,
		},
		{func() any { return new(Balance) }, `{"%s":%s}`, []string{"burn_kop_h"}, false},
		{func() any { return new(Balance) }, `{"%s":%s}`, []string{"balance_kop", "available_kop", "credit_limit_kop"}, true},
	} {
		for _, field := range test.fields {
			for value, valid := range map[string]bool{
				"1000000000000": true, "1e12": true, "1000000000000.0": true,
				"-1": test.negative, "-9223372036854775808": false, "-1000000000001": false,
				"1000000000001": false, "9223372036854775807": false, "1e30": false, "1.5": false, `"5"`: false, "NaN": false,
				"1e400": false, "[]": false,
			} {
				err := decode([]byte(fmt.Sprintf(test.body, field, value)), test.into())
				if (err == nil) != valid {
					t.Errorf("%s: %s of %s: %v", test.body, field, value, err)
				}
			}
		}
	}
	for _, body := range []string{
		`{"id":"a"}`, `{"id":"a","price":null}`, `{"id":"a","price":{}}`, `{"id":"a","price":{"on_demand_kop_h":null}}`,
	} {
		var offer Offer
		if err := decode([]byte(body), &offer); err == nil {
			t.Errorf("%s: %+v is a free offer", body, offer)
		}
	}
}
