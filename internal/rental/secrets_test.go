package rental

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	apiErrorJSON = `{"error":{"code":"ECHO","message":"ECHO","details":{"ECHO":["ECHO"],"reason":"ECHO"}}}`
	wrongTypes   = `{"id":{"ECHO":1},"data":"ECHO","secret":["ECHO"],"api_key":{"x":"ECHO"},"device_code":{"x":"ECHO"},` +
		`"balance_kop":"ECHO","lines":"ECHO","slug":[]}`
)

const deviceSecret = "DEVICEsecretDEVICEsecret"

// For every operation and kind of failure, a response that contains the secrets leaves none in the error and the log.
func TestSecrets_InNoErrorAndLog(t *testing.T) {
	echo := canary + " " + deviceSecret
	// Control characters inside and before the key: their removal must not reveal the key.
	disguised := canary[:9] + "\x1b[0m" + canary[9:] + " \x1b" + canary + " \u200b" + canary[:20] + "\u200b" + canary[20:]
	disguisedJSON, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": disguised, "message": disguised, "details": map[string]any{disguised: disguised},
	}})
	if err != nil {
		t.Fatal(err)
	}
	failures := map[string]reply{
		"network error": {err: fmt.Errorf("proxy said %s", echo)},
		"url error":     {err: &url.Error{Op: "Get", URL: "https://x/?key=" + canary, Err: errors.New(echo)}},
		"API error":     {status: 422, header: "X-Request-Id: " + echo, body: strings.ReplaceAll(apiErrorJSON, "ECHO", echo)},
		"HTML":          {status: 502, body: "<html>" + echo},
		"invalid JSON":  ok(echo),
		"wrong type":    ok(strings.ReplaceAll(wrongTypes, "ECHO", echo)),
		"redirect":      {status: 307, header: "Location: https://" + canary + ".example/?k=" + echo},
		"disguised":     {status: 422, header: "X-Request-Id: " + disguised, body: string(disguisedJSON)},
		"key at the length limit": {status: 409, body: `{"error":{"code":"` + strings.Repeat("x", maxCode-20) + canary +
			`","message":"` + strings.Repeat("x", maxMessage-20) + canary + `"}}`},
		"content type": {status: 200, header: "Content-Type: " + strings.Repeat("x", maxCode-20) + canary, body: "no JSON"},
		"rate limited": {status: 429, header: "Retry-After: 86400", body: errorJSON(echo)},
	}
	calls := append(operations(), operation{
		id: "key as an id", do: func(ctx context.Context, c *Client, _ string) (any, error) {
			return nil, c.DeleteAPIKey(ctx, canary)
		},
	})
	for name, failure := range failures {
		for _, op := range calls {
			if op.id == "createDeviceToken" {
				op.object = deviceSecret
			}
			var mu sync.Mutex
			var out strings.Builder
			record := func(_ context.Context, message string, fields map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(&out, "%s %v\n", message, fields)
			}
			client := newTestClient(t, inTurn(failure), retries(1), func(c *Config) { c.Log = record })
			if _, err := op.call(t.Context(), client); err != nil {
				e := asError(t, err)
				fmt.Fprintf(&out, "%v %+v %s %s %v %s %v", err, err, e.Path, e.Reason, e.Issues, e.RequestID, e.Err)
			} else if ignoresBody := op.response == ""; failure.status != http.StatusOK || !ignoresBody {
				t.Errorf("%s, %s: no error", name, op.id)
			}
			text := out.String()
			if text == "" || strings.Contains(text, canary[4:18]) ||
				op.object == deviceSecret && strings.Contains(text, deviceSecret) {
				t.Errorf("%s, %s: nothing was logged, or a secret is in:\n%s", name, op.id, text)
			}
		}
	}
}

// The error of a success with another id contains that id, and no secret.
func TestSecrets_InNoErrorAndLog_AnotherID(t *testing.T) {
	client, _ := scriptedClient(t, ok(`{"id":"`+canary+`"}`))
	_, err := client.GetInstance(t.Context(), "i")
	text := fmt.Sprintf("%v %v", err, asError(t, err).Err)
	if !strings.Contains(text, hidden) || strings.Contains(text, canary[4:18]) {
		t.Error(text)
	}
}

// The secret of a new key cannot be masked before the body is decoded, so errors do not quote the body.
func TestSecrets_InNoErrorAndLog_IssuedSecret(t *testing.T) {
	const issued = "gpr_ISSUEDissuedISSUEDissuedISSUEDissued1234"
	for _, body := range []string{
		`{"id":"a1","secret":"` + issued + `","name":["` + issued + `"]}`,
		`{"id":"a1","secret":"` + issued + `"`,
		`{"secret":"` + issued + `"}`,
		`["` + issued + `"]`,
	} {
		client, _ := scriptedClient(t, reply{status: http.StatusCreated, body: body})
		_, err := client.CreateAPIKey(t.Context(), APIKeyCreate{})
		if err == nil || strings.Contains(fmt.Sprintf("%v %v %+v", err, asError(t, err).Err, err), issued[4:18]) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestSecrets_NotPrinted(t *testing.T) {
	config := Config{BaseURL: "https://user:" + canary + "@rent.example/api/v1", APIKey: canary}
	for _, value := range []any{
		config, &config, newTestClient(t, nil), APIKeyCreated{Secret: canary}, &APIKeyCreated{Secret: canary},
		DeviceCode{DeviceCode: canary}, DeviceToken{APIKey: canary}, []DeviceToken{{APIKey: canary}},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(verb, value); strings.Contains(text, canary) {
				t.Errorf("%s of %T: %s", verb, value, text)
			}
		}
	}
}

func TestLogFields(t *testing.T) {
	var lines []string
	busy := failed(CodeProviderUnavailable)
	busy.header = "X-Request-Id: r-1"
	client := newTestClient(t, inTurn(busy, reply{err: io.EOF}, ok(onePage(""))), func(c *Config) {
		c.Log = func(_ context.Context, _ string, fields map[string]any) {
			if _, measured := fields["duration_ms"]; !measured {
				t.Error("no duration_ms")
			}
			delete(fields, "duration_ms")
			lines = append(lines, fmt.Sprint(fields))
		}
	})
	if _, err := collect(client.ListInstances(t.Context(), ListInstancesQuery{Status: ListAll})); err != nil {
		t.Fatal(err)
	}
	const request = "method:GET path:/api/v1/instances query:limit=200&status=all"
	want := []string{
		"map[attempt:1 error_code:provider_unavailable " + request + " request_id:r-1 status:503]",
		"map[attempt:2 error:EOF " + request + "]",
		"map[attempt:3 " + request + " status:200]",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("one line per attempt (-want +got):\n%s", diff)
	}
}
