package rental

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func failWith(t *testing.T, s reply) *Error {
	t.Helper()
	s2 := &scriptedTransport{replies: []reply{s}}
	client := newTestClient(t, testURL, func(c *Config) { c.Transport, c.MaxRetries = s2, -1 })
	_, err := client.GetInstance(t.Context(), "i")
	return asError(t, err)
}

func TestErrorCodes(t *testing.T) {
	predicates := map[string]func(error) bool{
		CodeUnauthorized: IsUnauthorized, CodeInsufficientFunds: IsInsufficientFunds, CodeForbidden: IsForbidden,
		CodeNotFound: IsNotFound, CodeConflict: IsConflict, CodeValidation: IsValidation,
	}
	for code, status := range statusOfCode {
		if status == http.StatusTooManyRequests { // see TestRetryAfter_TooLong
			continue
		}
		e := failWith(t, reply{status: status, header: "X-Request-Id: req-7", body: errorJSON(code)})
		wrapped := fmt.Errorf("while testing: %w", e)
		for other, is := range predicates {
			if is(wrapped) != (other == code) {
				t.Errorf("%s: the predicate of %s returns %t", code, other, is(wrapped))
			}
		}
		if !HasCode(wrapped, code) || HasCode(wrapped, "") || IsUnavailable(wrapped) != (status >= 500) {
			t.Errorf("HasCode or IsUnavailable is wrong for %s", code)
		}
		if want := fmt.Sprintf("GET /instances/i: %d %s: no (request id req-7)", status, code); e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}

func TestErrorBodies(t *testing.T) {
	conflict := func(fields string) reply {
		return reply{status: 409, body: `{"error":{"code":"conflict",` + fields + `}}`}
	}
	tests := []struct {
		name    string
		reply   reply
		code    string
		message string
		request string
	}{
		{"404 of a proxy", reply{status: 404, body: "<html>"}, "", "not found", ""},
		{"unknown status", reply{status: 599}, "", "no explanation was given", ""},
		{"other JSON", reply{status: 500, body: `{"message":"x"}`}, "", "internal server error", ""},
		{"error is a string", reply{status: 400, body: `{"error":"x"}`}, "", "bad request", ""},
		{"message is not a string", conflict(`"message":5`), CodeConflict, "conflict", ""},
		{"details are not an object", conflict(`"message":"m","details":[1]`), CodeConflict, "m", ""},
		{"unknown code", reply{status: 418, body: errorJSON("teapot")}, "", "no", ""},
		{"undocumented pair with 404", reply{status: 404, body: errorJSON(CodeConflict)}, "", "no", ""},
		{"request id in details", conflict(`"message":"m","details":{"request_id":"r9"}`), CodeConflict, "m", "r9"},
		{
			"terminal escapes", conflict(`"message":"a\u001b[31mred\u001b[0m\u001b]0;title\u0007\r\nb\u202ec\u009b2Jd"`),
			CodeConflict, "ared  bcd", "",
		},
		{
			"long", conflict(`"message":"` + strings.Repeat("ж", 5000) + `"`),
			CodeConflict, strings.Repeat("ж", 1000) + "…", "",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := failWith(t, test.reply)
			got := []any{e.Status, e.Code, e.Message, e.RequestID}
			if diff := cmp.Diff([]any{test.reply.status, test.code, test.message, test.request}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if IsNotFound(e) {
				t.Error("IsNotFound is true")
			}
			if e.Foreign != (test.code == "") || e.Foreign && !strings.Contains(e.Error(), "not a response of the API") {
				t.Errorf("foreign is %t: %v", e.Foreign, e)
			}
		})
	}
}

func TestDetails(t *testing.T) {
	details := func(text string) *Error {
		body := `{"error":{"code":"validation_error","message":"m","details":` + text + `}}`
		return failWith(t, reply{status: 422, body: body})
	}
	kops := map[string]int64{
		`{"short_kop":123456789012345678}`: 123456789012345678,
		`{"short_kop":"5"}`:                0, `{"short_kop":1.5}`: 0, `{}`: 0, `null`: 0,
	}
	for text, want := range kops {
		if got := details(text).ShortKop; got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
	if got := details(`{"reason":"email_not_verified"}`).Reason; got != ReasonEmailNotVerified {
		t.Errorf("reason %q", got)
	}
	issues := map[string][]Issue{
		`{"issues":[{"field":"disk_gb","message":"too small"}]}`:                {{"disk_gb", "too small"}},
		`{"issues":[{"path":["ports",0],"message":"no"}]}`:                      {{"ports.0", "no"}},
		`{"issues":[{"path":"env.HOME","message":"no"},{"message":"invalid"}]}`: {{"env.HOME", "no"}, {"", "invalid"}},
		`{"issues":["a",7,{"loc":["name"],"msg":"b"}]}`: {
			{"", "a"}, {"", "7"}, {"", "map[loc:[name] msg:b]"},
		},
		`{"issues":{"name":["short"]}}`: {{"", "map[name:[short]]"}},
		`{"issues":"all invalid"}`:      {{"", "all invalid"}},
		`{"issues":[]}`:                 nil,
		`{}`:                            nil,
	}
	for text, want := range issues {
		if diff := cmp.Diff(want, details(text).Issues); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// The path of a request contains an id of any length, and the error contains the path.
func TestError_BoundsThePath(t *testing.T) {
	c := &call{escapedPath: "/instances/" + strings.Repeat("y", 5000), client: newTestClient(t, testURL)}
	transport := &scriptedTransport{replies: []reply{{status: http.StatusNotFound, body: errorJSON("not_found")}}}
	resp, err := transport.RoundTrip(nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body = newBuffered(nil, nil)
	for _, e := range []*Error{c.apiError(resp), c.invalidResponse(resp, io.EOF), c.networkError(io.EOF)} {
		if len(e.Path) > 1100 || !strings.HasPrefix(e.Path, "/instances/y") {
			t.Errorf("%d bytes of path", len(e.Path))
		}
	}
}

// The texts of an error are valid, sanitized and limited for every body.
func FuzzErrorBody(f *testing.F) {
	for _, seed := range []string{
		errorJSON("conflict"), `{"error":null}`, `[]`, `<html>`,
		`{"error":{"code":5,"message":[],"details":{"issues":[{"path":[1,null]}],"short_kop":1e400}}}`,
		"{\"error\":{\"code\":\"a\\u001b[2J\",\"message\":\"\\u0000\xff\\ud800\"}}",
		`{"error":{"code":"c","message":"m","details":{"reason":{},"request_id":7}}}`,
	} {
		f.Add(422, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		status = 400 + (status%200+200)%200
		c := &call{escapedPath: "/x", mask: newMask(canary), client: newTestClient(t, testURL)}
		resp, err := (&scriptedTransport{replies: []reply{{status: status, body: body}}}).RoundTrip(nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body = newBuffered([]byte(body), nil)
		e := c.apiError(resp)
		texts := []string{e.Error(), e.Code, e.Message, e.Reason, e.RequestID}
		for _, issue := range e.Issues {
			texts = append(texts, issue.Field, issue.Message)
		}
		for _, text := range texts {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("%q", text)
			}
		}
		if e.Status != status || e.Message == "" || utf8.RuneCountInString(e.Message) > maxMessage+1 {
			t.Fatalf("%+v", e)
		}
	})
}
