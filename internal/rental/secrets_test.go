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
		"invalid JSON":  {status: 200, body: echo},
		"wrong type":    {status: 200, body: strings.ReplaceAll(wrongTypes, "ECHO", echo)},
		"redirect":      {status: 307, header: "Location: https://" + canary + ".example/?k=" + echo},
		"disguised":     {status: 422, header: "X-Request-Id: " + disguised, body: string(disguisedJSON)},
		"key at the length limit": {status: 409, body: `{"error":{"code":"` + strings.Repeat("x", maxCode-20) + canary +
			`","message":"` + strings.Repeat("x", maxMessage-20) + canary + `"}}`},
		"content type": {status: 200, header: "Content-Type: " + strings.Repeat("x", maxCode-20) + canary, body: "no JSON"},
		"rate limited": {status: 429, header: "Retry-After: 86400", body: errorJSON(echo)},
	}
	withoutBody := map[string]bool{"key as an id": true} // calls that ignore the body
	calls := map[string]func(context.Context, *Client) error{
		"device token": func(ctx context.Context, c *Client) error {
			_, err := c.CreateDeviceToken(ctx, deviceSecret)
			return err
		},
		"key as an id": func(ctx context.Context, c *Client) error { return c.DeleteAPIKey(ctx, canary) },
	}
	for _, op := range operations(t) {
		calls[op.id] = func(ctx context.Context, c *Client) error { _, err := op.do(ctx, c); return err }
		withoutBody[op.id] = op.status == http.StatusNoContent
	}
	for name, failure := range failures {
		for id, do := range calls {
			t.Run(name+"/"+id, func(t *testing.T) {
				var mu sync.Mutex
				var out strings.Builder
				record := func(_ context.Context, message string, fields map[string]any) {
					mu.Lock()
					defer mu.Unlock()
					fmt.Fprintf(&out, "%s %v\n", message, fields)
				}
				client := newTestClient(t, testURL, func(c *Config) {
					c.Transport, c.Log, c.MaxRetries = &scriptedTransport{replies: []reply{failure}}, record, 1
				})
				if err := do(t.Context(), client); err != nil {
					e := asError(t, err)
					fmt.Fprintf(&out, "%v %+v %s %s %v %s %v", err, err, e.Path, e.Reason, e.Issues, e.RequestID, e.Err)
				} else if failure.status != http.StatusOK || !withoutBody[id] {
					t.Error("no error")
				}
				text := out.String()
				if strings.Contains(text, canary[4:18]) || id == "device token" && strings.Contains(text, deviceSecret) {
					t.Errorf("a secret is in:\n%s", text)
				}
				if text == "" {
					t.Error("nothing was logged")
				}
			})
		}
	}
}

// The error of a success with another id contains that id, and no secret.
func TestSecrets_InNoErrorAndLog_AnotherID(t *testing.T) {
	client, _ := scriptedClient(t, reply{status: 200, body: `{"id":"` + canary + `"}`})
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
		client, _ := scriptedClient(t, reply{status: 201, body: body})
		_, err := client.CreateAPIKey(t.Context(), APIKeyCreate{})
		if err == nil || strings.Contains(fmt.Sprintf("%v %v %+v", err, asError(t, err).Err, err), issued[4:18]) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestSecrets_NotPrinted(t *testing.T) {
	config := Config{BaseURL: "https://rent.example/api/v1", APIKey: canary}
	client := newTestClient(t, config.BaseURL)
	values := []any{
		config, &config, client, APIKeyCreated{Secret: canary}, &APIKeyCreated{Secret: canary},
		DeviceCode{DeviceCode: canary},
		DeviceToken{APIKey: canary}, []DeviceToken{{APIKey: canary}}, Config{BaseURL: "https://user:" + canary +
			"@rent.example/api/v1"},
	}
	for _, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(verb, value); strings.Contains(text, canary) {
				t.Errorf("%s of %T: %s", verb, value, text)
			}
		}
	}
}

func TestLogFields(t *testing.T) {
	var lines []map[string]any
	s := &scriptedTransport{replies: []reply{{status: 503, header: "X-Request-Id: r-1",
		body: errorJSON("provider_unavailable")}, {err: io.EOF}, {status: 200, body: onePage("")}}}
	client := newTestClient(t, testURL, func(c *Config) {
		c.Transport, c.Log = s, func(_ context.Context, _ string, fields map[string]any) { lines = append(lines, fields) }
	})
	if _, err := collect(client.ListInstances(t.Context(), ListInstancesQuery{Status: ListAll})); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"attempt": 1, "status": 503, "error_code": CodeProviderUnavailable, "request_id": "r-1"},
		{"attempt": 2, "error": "EOF"},
		{"attempt": 3, "status": 200},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want one per attempt", len(lines))
	}
	for i, line := range lines {
		for _, common := range []string{"method", "path", "query", "duration_ms"} {
			if _, ok := line[common]; !ok {
				t.Errorf("line %d has no %s", i, common)
			}
			delete(line, common)
		}
		if fmt.Sprint(line) != fmt.Sprint(want[i]) {
			t.Errorf("line %d: %v, want %v", i, line, want[i])
		}
	}
}
