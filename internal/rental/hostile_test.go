package rental

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

// The services in this file are malicious or broken. Every call must end.

// endless is a body of one repeated character.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestBodyLimits(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		body    string
		do      string
		want    string // in the error; empty for success
		unknown bool
	}{
		"large":              {200, `{"id":"u"` + strings.Repeat(" ", maxBody-10) + "}", "getMe", "", false},
		"error":              {404, `{"id":"`, "getMe", "64 KiB", false},
		"created without id": {201, `{"id":"`, "createInstance", "8192 KiB", true},
		"created":            {201, `{"id":"i","name":"`, "createInstance", "8192 KiB", false},
	} {
		client := newTestClient(t, &script{answer: func(*http.Request, int) reply {
			return reply{status: test.status, stream: io.MultiReader(strings.NewReader(test.body), endless('x'))}
		}})
		if test.want == "" {
			client, _ = scriptedClient(t, ok(test.body))
		}
		err := perform(t, client, test.do)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || IsNotFound(err) ||
			IsOutcomeUnknown(err) != test.unknown {
			t.Errorf("%s: %v, outcome unknown %t", name, err, IsOutcomeUnknown(err))
		}
	}
}

// A body that is small because it is compressed is read up to the limit.
func TestResponse_EndlessBody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.Copy(gzip.NewWriter(w), endless('{')) //nolint:errcheck // until the client closes the connection
	}))
	client := newTestClient(t, nil, baseURL(server.URL), retries(-1))
	t.Cleanup(server.Close)
	if err := getMe(t, client); err == nil || !strings.Contains(err.Error(), "8192 KiB") {
		t.Error(err)
	}
}

// trickle is a body of one byte per second, until the context of its request ends.
type trickle struct{ request context.Context }

func (t trickle) Read(p []byte) (int, error) {
	p[0] = '1'
	return 1, backoff.Sleep(t.request, time.Second)
}

// The request timeout limits the whole attempt, even if bytes arrive all the time.
func TestRequestTimeout_SlowResponses(t *testing.T) {
	for name, answer := range map[string]func(*http.Request, int) reply{
		"no response": func(*http.Request, int) reply { return hangs },
		"slow body":   func(req *http.Request, _ int) reply { return reply{status: 200, stream: trickle{req.Context()}} },
	} {
		synctest.Test(t, func(t *testing.T) {
			client := newTestClient(t, &script{answer: answer}, retries(1), requestTimeout(4*time.Second))
			start := time.Now()
			err := getMe(t, client)
			if took := time.Since(start); took != 8*time.Second || !IsUnavailable(err) ||
				errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "within 4s") {
				t.Errorf("%s: %v after %s; want IsUnavailable after twice 4 s", name, err, took)
			}
			if _, err := client.CreateAPIKey(t.Context(), APIKeyCreate{}); !IsOutcomeUnknown(err) {
				t.Errorf("%s: a create: %v, want an unknown outcome", name, err)
			}
		})
	}
}

// The API has no redirects: the error names the target. TestRetryMatrix has the outcome.
func TestRedirects(t *testing.T) {
	for location, target := range map[string]string{
		"https://other.example/x": "https://other.example", "/api/v1/balance": strings.TrimSuffix(testURL, versionSuffix),
		"http://[bad": "an invalid address",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			client, s := scriptedClient(t, reply{status: status, header: "Location: " + location})
			_, err := client.CreateTemplate(t.Context(), TemplateCreate{})
			if e := asError(t, err); e.Status != status || s.attempts() != 1 || !strings.HasSuffix(e.Message, "to "+target) {
				t.Errorf("%d to %s: %+v after %d attempts", status, location, e, s.attempts())
			}
		}
	}
}

func TestInvalidResponses(t *testing.T) {
	const retried = 1 + maxForeignRetries
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for name, test := range map[string]struct {
		status   int
		body     string
		do       string
		unknown  bool
		attempts int
	}{
		"empty":                           {201, "", "createInstance", true, retried},
		"HTML for a read":                 {200, "<html>welcome</html>", "getInstance", false, retried},
		"undocumented status":             {202, `{"id":"i"}`, "createInstance", true, retried},
		"status of another operation":     {201, `{"id":"i"}`, "getInstance", false, retried},
		"no id":                           {201, `{"status":"creating"}`, "createInstance", true, 1},
		"incomplete":                      {201, `{"id":"i`, "createInstance", true, 1},
		"token without key":               {200, `{"key_id":"a"}`, "createDeviceToken", true, 1},
		"template with status 200":        {200, templateJSON, "createTemplate", true, 1},
		"revocation with an object":       {202, "{}", "deleteApiKey", false, retried},
		"instance deletion without body":  {204, "", "deleteInstance", false, retried},
		"read of an empty object":         {200, "{}", "getInstance", false, 1},
		"id of a wrong type":              {200, `{"id":["a"]}`, "getInstance", false, 1},
		"two ids":                         {200, `{"id":"i/1","ID":"b"}`, "getInstance", false, 1},
		"list without data":               {200, "{}", "listSshKeys", false, 1},
		"list with an object":             {200, `{"data":{"0":{"id":"k"}},"next_cursor":null}`, "listSshKeys", false, 1},
		"list with null":                  {200, `{"data":null,"next_cursor":null}`, "listSshKeys", false, 1},
		"incomplete list":                 {200, `{"data":[{"id":"k"}`, "listSshKeys", false, 1},
		"two lists":                       {200, onePage("") + onePage(""), "listSshKeys", false, 1},
		"list with an item nested deeply": {200, onePage(`{"id":"k","x":` + deep + "}"), "listSshKeys", false, 1},
	} {
		client, s := scriptedClient(t, reply{status: test.status, body: test.body})
		err := perform(t, client, test.do)
		e := asError(t, err)
		if e.Status != test.status || e.Message == "" || len(e.Error()) > 2*maxMessage || IsNotFound(e) {
			t.Errorf("%s: got %+v, want status %d and a short message", name, e, test.status)
		}
		if IsOutcomeUnknown(err) != test.unknown || s.attempts() != test.attempts {
			t.Errorf("%s: outcome unknown %t after %d attempts, want %t after %d", name, IsOutcomeUnknown(err), s.attempts(),
				test.unknown, test.attempts)
		}
	}
}

// After a success with an id the instance is rented, even if the rest of the response is invalid.
func TestCreateInstance_InvalidFields(t *testing.T) {
	for name, body := range map[string]string{
		"wrong type":                 `{"id":"i","status":5,"price":{"running_kop_h":7}}`,
		"negative price":             `{"id":"i","price":{"running_kop_h":-7}}`,
		"invalid JSON":               `{"name":"n","id":"i",x}`,
		"incomplete":                 `{"gpu":{"slug":"a"},"id":"i","name":"t`,
		"id after the invalid field": `{"status":5,"id":"i"}`,
	} {
		for status, want := range map[int]Replay{http.StatusOK: Replayed, http.StatusCreated: NotReplayed} {
			client, s := scriptedClient(t, reply{status: status, body: body})
			created, replay, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
			if err == nil || IsOutcomeUnknown(err) || s.attempts() != 1 || created.ID != "i" || replay != want {
				t.Errorf("%s, %d: id %q, replay %d, outcome unknown %t after %d attempts: %v", name, status, created.ID, replay,
					IsOutcomeUnknown(err), s.attempts(), err)
			}
		}
	}
}

// A response with the id of another object is an error: the state would contain another server.
func TestResponse_OtherID(t *testing.T) {
	checked := 0
	for _, op := range operations() {
		switch op.want.(type) {
		case Instance, Offer:
			if op.id == "createInstance" {
				continue
			}
			checked++
			other := strings.Replace(op.response, `"id":"`, `"id":"other `, 1)
			client, s := scriptedClient(t, ok(other))
			_, err := op.call(t.Context(), client)
			if err == nil || IsNotFound(err) || s.attempts() != 1 || !strings.Contains(err.Error(), "another") {
				t.Errorf("%s: %v after %d attempts; want an error about the id", op.id, err, s.attempts())
			}
		}
	}
	if checked != 6 {
		t.Errorf("%d operations return an object by its id, want 6", checked)
	}
}

// Every price and amount is checked.
func TestResponse_InvalidPrices(t *testing.T) {
	for body, into := range map[string]func() any{
		`{"id":"a","price":{"on_demand_kop_h":%s}}`:                          func() any { return new(Offer) },
		`{"id":"a","price":{"on_demand_kop_h":1,"interruptible_kop_h":%s}}`:  func() any { return new(Offer) },
		`{"id":"a","price":{"on_demand_kop_h":1,"storage_kop_gb_month":%s}}`: func() any { return new(Offer) },
		`{"id":"a","price":{"on_demand_kop_h":1,"traffic_kop_gb":%s}}`:       func() any { return new(Offer) },
		`{"id":"a","price":{"running_kop_h":%s}}`:                            func() any { return new(Instance) },
		`{"id":"a","price":{"stopped_kop_h":%s}}`:                            func() any { return new(Instance) },
		`{"id":"a","price":{"traffic_kop_gb":%s}}`:                           func() any { return new(Instance) },
		`{"slug":"a","from_kop_h":%s}`:                                       func() any { return new(GPUModel) },
		`{"slug":"a","from_interruptible_kop_h":%s}`:                         func() any { return new(GPUModel) },
		`{"burn_kop_h":%s}`:                                                  func() any { return new(Balance) },
		`{"balance_kop":%s}`:                                                 func() any { return new(Balance) },
		`{"available_kop":%s}`:                                               func() any { return new(Balance) },
		`{"credit_limit_kop":%s}`:                                            func() any { return new(Balance) },
	} {
		amount := regexp.MustCompile("balance|available|credit").MatchString(body) // it can be negative
		for value, valid := range map[string]bool{
			"1000000000000": true, "1e12": true, "1000000000000.0": true, "-1": amount, "-1000000000000": amount,
			"-9223372036854775808": false, "-1000000000001": false, "1000000000001": false, "9223372036854775807": false,
			"1e30": false, "1.5": false, `"5"`: false, "NaN": false, "1e400": false, "[]": false,
		} {
			if err := decode([]byte(fmt.Sprintf(body, value)), into()); (err == nil) != valid {
				t.Errorf("%s of %s: %v", body, value, err)
			}
		}
	}
	for _, price := range []string{"", `,"price":null`, `,"price":{}`, `,"price":{"on_demand_kop_h":null}`} {
		var offer Offer
		if err := decode([]byte(`{"id":"a"`+price+"}"), &offer); err == nil {
			t.Errorf("%s: %+v is a free offer", price, offer)
		}
	}
}

// Every body is either decoded, or an error whose texts are valid, sanitized and limited.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		instanceJSON, offerJSON, templateJSON, userJSON, onePage(sshKeyJSON), onePage(instanceJSON), "", "null", "[]",
		`{"id":"a","ID":"b"}`, `{"id":"a","id":"b"}`, `{"id":null}`, `{"data":[null]}`, `{"data":{}}`, `{"error":null}`,
		errorJSON("not_found"), "\xff\xfe", `{"id":"\ud800"}`, `{"price":{"on_demand_kop_h":-1},"id":"a"}`,
		`{"next_cursor":5}`, `{"id":"a"`,
		`{"error":{"code":5,"message":[],"details":{"issues":[{"path":[1,null]}],"short_kop":1e400}}}`,
		"{\"error\":{\"code\":\"a\\u001b[2J\",\"message\":\"\\u0000\xff\\ud800\"}}",
		`{"error":{"code":"c","message":"m","details":{"reason":{},"request_id":7}}}`,
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
		for _, op := range operations() {
			_, err := op.call(t.Context(), client)
			if err == nil && status/100 == 2 {
				continue
			}
			checkTexts(t, op.id, asError(t, err))
			if IsNotFound(err) && status/100 == 2 {
				t.Errorf("%s: IsNotFound for a success: %v", op.id, err)
			}
		}
		created, _, err := client.CreateInstance(t.Context(), "key", InstanceCreate{})
		if err != nil && status/100 == 2 && IsOutcomeUnknown(err) != (created.ID == "") {
			t.Errorf("with id %q, outcome unknown is %t: %v", created.ID, IsOutcomeUnknown(err), err)
		}
		if got, err := client.GetInstance(t.Context(), "a"); err == nil && (got.ID != "a" || got.Price.RunningKopH < 0) {
			t.Errorf("%q is decoded as %+v", body, got)
		}
		offers, err := collect(client.ListOffers(t.Context(), OfferQuery{}))
		for _, offer := range offers {
			if offer.ID == "" || offer.Price.OnDemandKopH < 0 {
				t.Errorf("%q is decoded as %+v, %v", body, offer, err)
			}
		}
	})
}

func checkTexts(t *testing.T, name string, e *Error) {
	t.Helper()
	texts := []string{e.Error(), e.Code, e.Message, e.Reason, e.RequestID}
	for _, issue := range e.Issues {
		texts = append(texts, issue.Field, issue.Message)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("%s: control characters in %q", name, text)
		}
	}
	if e.Message == "" || utf8.RuneCountInString(e.Message) > maxMessage+1 {
		t.Errorf("%s: the message has %d characters", name, utf8.RuneCountInString(e.Message))
	}
}
