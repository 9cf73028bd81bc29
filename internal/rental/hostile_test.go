package rental

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The services here mean harm, or are broken beyond what the API document allows. Whatever they do, a call ends in bounded time and
// memory with an answer that means what was asked for, or with a plain error.

// allocated is how many bytes do takes in all: never less than it holds at once.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// zip is what comes out as unit over and over, size bytes of it.
func zip(t *testing.T, unit string, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	block := []byte(strings.Repeat(unit, 1<<20/len(unit)))
	for range size / len(block) {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// What is small on the wire, or in text, must not become large here.
func TestMemoryOfAnswersIsBounded(t *testing.T) {
	const most = 512 << 20 // in all; less than half of it at once
	bomb := zip(t, " ", 64<<20)
	for name, handler := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			block := bytes.Repeat([]byte(" "), 1<<20)
			for range 4096 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		},
		"unpacks itself": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Error("the transport does not unpack: this test tests nothing")
			}
			w.Header().Set("Content-Encoding", "gzip")
			if _, err := w.Write(bomb); err != nil {
				return
			}
		},
		"many empty things": func(w http.ResponseWriter, _ *http.Request) {
			write(t, w, `{"data":[`+strings.Repeat(`{},`, (maxBody-100)/3)+`{}],"next_cursor":null}`)
		},
		"many nulls": func(w http.ResponseWriter, _ *http.Request) {
			write(t, w, `{"data":[`+strings.Repeat(`null,`, (maxBody-100)/5)+`null],"next_cursor":null}`)
		},
		"many empty parts": func(w http.ResponseWriter, _ *http.Request) {
			write(t, w, `{"data":[{"id":"i","urls":[`+strings.Repeat(`{},`, (maxBody-100)/3)+`{}]}],"next_cursor":null}`)
		},
		"nested": func(w http.ResponseWriter, _ *http.Request) {
			write(t, w, `{"data":`+strings.Repeat(`[`, 1<<20))
		},
		"a long header": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", strings.Repeat("x", 9<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := newServerClient(t, handler, func(c *Config) { c.MaxRetries = -1 })
			var all []Instance
			var err error
			skipped := 0
			ctx := WithSkipped(t.Context(), func(Skipped) { skipped++ })
			got := allocated(func() { all, err = collect(client.ListInstances(ctx, ListInstancesQuery{})) })
			if err != nil && len(err.Error()) > 2*maxMessage {
				t.Errorf("got %.200v, want a plain error", err)
			}
			if err == nil && (len(all) > 0 || skipped == 0) {
				t.Errorf("got %d instances, want an error or an entry that is left out", len(all))
			}
			if got > most {
				t.Errorf("it took %d MiB in all, want at most %d", got>>20, most>>20)
			}
		})
	}
}

// dial connects to a service that is a function of one connection, in a bubble.
func dial(service func(net.Conn)) *http.Transport {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			go func() { _, _ = io.Copy(io.Discard, theirs) }() //nolint:errcheck // what is asked for is of no interest
			service(theirs)
		}()
		return ours, nil
	}}
}

// drip sends a text and then one byte a second, for ever.
func drip(begin string) func(net.Conn) {
	return func(conn net.Conn) {
		_, err := io.WriteString(conn, begin)
		for err == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(conn, "1")
		}
	}
}

// An answer that comes byte by byte is an answer that does not come: the time-out is that of the whole attempt.
func TestDrippingAnswersEndWithTheRequestTimeout(t *testing.T) {
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
				transport := dial(drip(begin))
				client := newTestClient(t, "https://rent.example/api/v1", func(c *Config) {
					c.Transport, c.RequestTimeout, c.MaxRetries = plainHTTP{transport}, 20*time.Second, 1
				})
				start := time.Now()
				_, err := client.GetMe(t.Context())
				if took := time.Since(start); took > 40*time.Second || !IsUnavailable(err) {
					t.Errorf("after %s: %v; want a failure of the service after at most twice 20 s", took, err)
				}
				if _, err := client.CreateAPIKey(t.Context(), APIKeyCreate{}); !IsOutcomeUnknown(err) {
					t.Errorf("a create: %v, want an unknown outcome", err)
				}
				transport.CloseIdleConnections()
				time.Sleep(2 * time.Second) // until the services have noticed
			})
		})
	}
}

// plainHTTP takes the TLS off, so that a service can be a few lines.
type plainHTTP struct{ next http.RoundTripper }

func (p plainHTTP) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme = "http"
	return p.next.RoundTrip(req)
}

// An answer about another thing than was asked for must not pass for it: it would put a foreign server into the state, or take ours out.
func TestAnswersAboutOtherThingsAreRefused(t *testing.T) {
	other := reply{status: 200, body: `{"id":"b","status":"destroyed","type":"on_demand","available":true,"price":{"on_demand_kop_h":1}}`}
	for name, do := range map[string]func(context.Context, *Client) error{
		"get": func(ctx context.Context, c *Client) error { _, err := c.GetInstance(ctx, "a"); return err },
		"rename": func(ctx context.Context, c *Client) error {
			_, err := c.UpdateInstance(ctx, "a", InstanceUpdate{})
			return err
		},
		"start":  func(ctx context.Context, c *Client) error { _, err := c.StartInstance(ctx, "a"); return err },
		"stop":   func(ctx context.Context, c *Client) error { _, err := c.StopInstance(ctx, "a"); return err },
		"delete": func(ctx context.Context, c *Client) error { _, err := c.DeleteInstance(ctx, "a"); return err },
		"offer":  func(ctx context.Context, c *Client) error { _, err := c.GetOffer(ctx, "a"); return err },
	} {
		client, s := scriptedClient(t, other)
		if err := do(t.Context(), client); err == nil || IsNotFound(err) || s.attempts() != 1 || !strings.Contains(err.Error(), "another") {
			t.Errorf("%s: %v after %d attempts; want an error that says so", name, err, s.attempts())
		}
	}
	for _, body := range []string{`{"id":"a","ID":"b","type":"on_demand"}`, `{"id":"a","id":"b","type":"on_demand"}`, `{"id":"\ud800"}`, `{"id":null}`, `{"id":["a"]}`} {
		client, _ := scriptedClient(t, reply{status: 200, body: body})
		if got, err := client.GetInstance(t.Context(), "a"); err == nil {
			t.Errorf("%s passes as %+v", body, got)
		}
	}
}

// A price that cannot be right must not look like a bargain, nor overflow a sum. Every field that holds a price or an amount is checked,
// in an answer about one thing and in a list.
func TestPricesThatAreNoneAreRefused(t *testing.T) {
	type call func(context.Context, *Client) error
	getOffer := func(ctx context.Context, c *Client) error { _, err := c.GetOffer(ctx, "a"); return err }
	getInstance := func(ctx context.Context, c *Client) error { _, err := c.GetInstance(ctx, "a"); return err }
	getBalance := func(ctx context.Context, c *Client) error { _, err := c.GetBalance(ctx); return err }
	listOffers := func(ctx context.Context, c *Client) error {
		_, err := collect(c.ListOffers(ctx, OfferQuery{}))
		return err
	}
	listInstances := func(ctx context.Context, c *Client) error {
		_, err := collect(c.ListInstances(ctx, ListInstancesQuery{}))
		return err
	}
	listGPUs := func(ctx context.Context, c *Client) error {
		_, err := collect(c.ListGPUs(ctx, ListOptions{}))
		return err
	}
	create := func(ctx context.Context, c *Client) error {
		_, _, err := c.CreateInstance(ctx, "k", InstanceCreate{})
		return err
	}
	const offer, instance = `{"id":"a","price":{"on_demand_kop_h":1,"%s":%s}}`, `{"id":"a","type":"on_demand","price":{"%s":%s}}`
	offerPrices := []string{"on_demand_kop_h", "interruptible_kop_h", "storage_kop_gb_month", "traffic_kop_gb"}
	instancePrices := []string{"running_kop_h", "stopped_kop_h", "traffic_kop_gb"}
	balanceAmounts := []string{"balance_kop", "available_kop", "credit_limit_kop"}
	for _, test := range []struct {
		name, body string // with the field and its value
		fields     []string
		do         call
		debt       bool // an amount, which may be below zero
	}{
		{"offer", offer, offerPrices, getOffer, false},
		{"offers", onePage(offer), offerPrices, listOffers, false},
		{"instance", instance, instancePrices, getInstance, false},
		{"instances", onePage(instance), instancePrices, listInstances, false},
		{"new instance", instance, instancePrices, create, false},
		{"burn rate", `{"%s":%s}`, []string{"burn_kop_h"}, getBalance, false},
		{"balance", `{"%s":%s}`, balanceAmounts, getBalance, true},
		{"GPU models", onePage(`{"slug":"a","%s":%s}`), []string{"from_kop_h", "from_interruptible_kop_h"}, listGPUs, false},
	} {
		ask := func(field, value string) (refused bool) {
			client, _ := scriptedClient(t, reply{status: 200, body: fmt.Sprintf(test.body, field, value)})
			skipped := 0
			err := test.do(WithSkipped(t.Context(), func(Skipped) { skipped++ }), client)
			return err != nil || skipped > 0
		}
		for _, field := range test.fields {
			wrong := []string{
				"-9223372036854775808", "-1000000000001", "1000000000001", "9223372036854775807", "1e30", "1.5", `"5"`, "NaN", "1e400", "[]",
			}
			if !test.debt {
				wrong = append(wrong, "-1")
			}
			for _, value := range wrong {
				if !ask(field, value) {
					t.Errorf("%s: %s of %s is accepted", test.name, field, value)
				}
			}
			if ask(field, "1000000000000") || test.debt && ask(field, "-1") {
				t.Errorf("%s: %s is refused at its bound", test.name, field)
			}
		}
	}
	for _, body := range []string{`{"id":"a"}`, `{"id":"a","price":null}`, `{"id":"a","price":{}}`, `{"id":"a","price":{"on_demand_kop_h":null}}`} {
		client, _ := scriptedClient(t, reply{status: 200, body: body})
		if got, err := client.GetOffer(t.Context(), "a"); err == nil {
			t.Errorf("%s: %+v looks like an offer that costs nothing", body, got)
		}
	}
	client, _ := scriptedClient(t, reply{status: 200, body: `{"id":"a","price":{"on_demand_kop_h":0,"interruptible_kop_h":null,"storage_kop_gb_month":1000000000000}}`})
	if _, err := client.GetOffer(t.Context(), "a"); err != nil {
		t.Errorf("what may be: %v", err)
	}
}
