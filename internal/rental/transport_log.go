package rental

import (
	"context"
	"net/http"
	"time"
)

// logLayer logs every attempt, without body and without headers that authenticate.
type logLayer struct {
	next http.RoundTripper
	log  func(ctx context.Context, message string, fields map[string]any)
}

func (l logLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := l.next.RoundTrip(req)
	call := callFrom(req.Context())
	fields := map[string]any{
		"method":      req.Method,
		"path":        call.mask.printable(req.URL.EscapedPath(), maxMessage),
		"attempt":     call.attempt,
		"duration_ms": time.Since(start).Milliseconds(),
	}
	add := func(name, value string) {
		if value != "" {
			fields[name] = call.mask.printable(value, maxMessage)
		}
	}
	add("query", req.URL.RawQuery)
	if err != nil {
		add("error", err.Error())
		l.log(req.Context(), "API request failed", fields)
		return resp, err
	}
	fields["status"] = resp.StatusCode
	add("request_id", resp.Header.Get("X-Request-Id"))
	add("rate_remaining", resp.Header.Get("X-RateLimit-Remaining"))
	add("retry_after", resp.Header.Get("Retry-After"))
	if resp.StatusCode >= 400 {
		add("error_code", parseErrorBody(bodyOf(resp).data).Code)
	}
	l.log(req.Context(), "API request", fields)
	return resp, nil
}
