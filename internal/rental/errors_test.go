package rental

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// errorOf returns the error of a call with this response.
func errorOf(t *testing.T, response reply) *Error {
	t.Helper()
	_, err := newTestClient(t, inTurn(response), retries(-1)).GetInstance(t.Context(), "i")
	return asError(t, err)
}

func TestErrorCodes(t *testing.T) {
	predicates := map[string]func(error) bool{
		CodeUnauthorized: IsUnauthorized, CodeInsufficientFunds: IsInsufficientFunds, CodeForbidden: IsForbidden,
		CodeNotFound: IsNotFound, CodeConflict: IsConflict, CodeValidation: IsValidation,
	}
	for code, status := range statusOfCode {
		if code == CodeRateLimited { // see TestRetryAfter_TooLong
			continue
		}
		response := failed(code)
		response.header = "X-Request-Id: req-7"
		e := errorOf(t, response)
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
	for name, test := range map[string]struct {
		status              int
		body                string // of a status other than 409, or the fields of a conflict
		code, text, request string
	}{
		"404 of a proxy":             {404, "<html>", "", "not found", ""},
		"unknown status":             {599, "", "", "no explanation was given", ""},
		"other JSON":                 {500, `{"message":"x"}`, "", "internal server error", ""},
		"error is a string":          {400, `{"error":"x"}`, "", "bad request", ""},
		"unknown code":               {418, errorJSON("teapot"), "", "no", ""},
		"undocumented pair with 404": {404, errorJSON(CodeConflict), "", "no", ""},
		"message is not a string":    {409, `"message":5`, CodeConflict, "conflict", ""},
		"details are not an object":  {409, `"message":"m","details":[1]`, CodeConflict, "m", ""},
		"request id in details":      {409, `"message":"m","details":{"request_id":"r9"}`, CodeConflict, "m", "r9"},
		"terminal escapes": {
			409, `"message":"a\u001b[31mred\u001b[0m\u001b]0;title\u0007\r\nb\u202ec\u009b2Jd"`, CodeConflict, "ared  bcd", "",
		},
		"long": {
			409, `"message":"` + strings.Repeat("ж", 5000) + `"`, CodeConflict, strings.Repeat("ж", 1000) + "…", "",
		},
	} {
		if test.status == http.StatusConflict {
			test.body = `{"error":{"code":"conflict",` + test.body + `}}`
		}
		e := errorOf(t, reply{status: test.status, body: test.body})
		got := []any{e.Status, e.Code, e.Message, e.RequestID}
		if diff := cmp.Diff([]any{test.status, test.code, test.text, test.request}, got); diff != "" || IsNotFound(e) {
			t.Errorf("%s: IsNotFound %t (-want +got):\n%s", name, IsNotFound(e), diff)
		}
		if e.Foreign != (test.code == "") || e.Foreign && !strings.Contains(e.Error(), "not a response of the API") {
			t.Errorf("%s: foreign is %t: %v", name, e.Foreign, e)
		}
	}
}

func TestDetails(t *testing.T) {
	for text, want := range map[string]Error{
		`{"short_kop":123456789012345678}`:        {ShortKop: 123456789012345678},
		`{"short_kop":"5"}`:                       {},
		`{"short_kop":1.5}`:                       {},
		`null`:                                    {},
		`{"reason":"email_not_verified"}`:         {Reason: ReasonEmailNotVerified},
		`{"issues":[]}`:                           {},
		`{"issues":"all invalid"}`:                {Issues: []Issue{{"", "all invalid"}}},
		`{"issues":{"name":["short"]}}`:           {Issues: []Issue{{"", "map[name:[short]]"}}},
		`{"issues":["a",7,{"msg":"b"}]}`:          {Issues: []Issue{{"", "a"}, {"", "7"}, {"", "map[msg:b]"}}},
		`{"issues":[{"message":"m"}]}`:            {Issues: []Issue{{"", "m"}}},
		`{"issues":[{"field":"f","message":""}]}`: {Issues: []Issue{{"f", ""}}},
		`{"issues":[{"path":["ports",0],"message":"no"},{"path":"env.HOME","message":"no"}]}`: {
			Issues: []Issue{{"ports.0", "no"}, {"env.HOME", "no"}},
		},
	} {
		body := `{"error":{"code":"validation_error","message":"m","details":` + text + `}}`
		e := errorOf(t, reply{status: http.StatusUnprocessableEntity, body: body})
		if diff := cmp.Diff(want, Error{ShortKop: e.ShortKop, Reason: e.Reason, Issues: e.Issues}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// The path of a request contains an id of any length, and the error contains the path.
func TestError_BoundsThePath(t *testing.T) {
	c := &call{escapedPath: "/instances/" + strings.Repeat("y", 5000), client: newTestClient(t, nil)}
	resp := &http.Response{StatusCode: http.StatusNotFound, Body: newBuffered(nil, nil)}
	for _, e := range []*Error{c.apiError(resp), c.invalidResponse(resp, io.EOF), c.networkError(io.EOF)} {
		if len(e.Path) > 1100 || !strings.HasPrefix(e.Path, "/instances/y") {
			t.Errorf("%d bytes of path", len(e.Path))
		}
	}
}
