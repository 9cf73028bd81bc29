package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

type withoutQuirksKey struct{}

// WithoutQuirks returns a context for requests to [Simulator.Handler] without quirks in requests and responses. Changes
// of instances and prices remain. Tests use it to read the actual state.
func WithoutQuirks(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutQuirksKey{}, true)
}

func isWithoutQuirks(r *http.Request) bool { return r.Context().Value(withoutQuirksKey{}) != nil }

// quirked applies the quirks of requests and responses. They are outside of Config.Wrap, so that a contract check sees
// the responses of the service.
func (s *Simulator) quirked(service http.Handler, a admission) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op, r := s.readOperation(r, a)
		if op == nil {
			service.ServeHTTP(w, r)
			return
		}
		if f := a.quirks.failBefore(op); f != nil {
			s.fail(w, a, f)
			return
		}
		if a.quirks.has(quirkSmallPages) && op.lists() {
			limitPage(r.URL)
		}
		res := &quirkedResponse{operation: op, quirkSet: a.quirks, now: a.logged.At}
		if op.lists() && a.quirks.has(quirkStrangeNeighbours) {
			res.readNeighbourCursor(r.URL)
		}
		if a.quirks.has(quirkLaggingStatus) && op.schema == "Instance" && op.writes() {
			res.before = s.statusOf(op.resourceID)
		}
		if cached := res.cachedReply(); cached != nil {
			s.writeChanged(w, a, res, cached)
			return
		}
		rec := &recorder{header: w.Header().Clone(), status: http.StatusOK}
		service.ServeHTTP(rec, r)
		// A hidden response starts no lag, because the client could not find out whether it may retry.
		if f := a.quirks.failAfter(op, rec.status); f != nil {
			s.fail(w, a, f)
			return
		}
		rep := &reply{rec.status, rec.header, rec.body.Bytes()}
		res.cacheReply(rep)
		s.writeChanged(w, a, res, rep)
	})
}

// writeChanged writes a response with the quirks of responses.
func (s *Simulator) writeChanged(w http.ResponseWriter, a admission, res *quirkedResponse, rep *reply) {
	rep, err := res.changed(rep, a.lang)
	if err != nil {
		s.writeError(w, a, err)
		return
	}
	s.writeReply(w, a, rep)
}

// fail writes the response of a failure, or cuts the connection.
func (s *Simulator) fail(w http.ResponseWriter, a admission, f *failure) {
	if f.cut {
		s.logStatus(a, 0)
		panic(http.ErrAbortHandler)
	}
	s.writeReply(w, a, f.reply(a.lang))
}

// changed applies the quirks to a response.
func (res *quirkedResponse) changed(rep *reply, l language) (*reply, error) {
	if other := res.replaced(rep, l); other != nil {
		rep = other
	}
	if !strings.HasPrefix(rep.header.Get("Content-Type"), "application/json") {
		return rep, nil
	}
	dec := json.NewDecoder(bytes.NewReader(rep.body))
	dec.UseNumber()
	if err := dec.Decode(&res.body); err != nil {
		return nil, err
	}
	res.status = rep.status
	for _, q := range quirkTable {
		if q.change == nil || !res.has(q.Name) || (rep.status >= http.StatusMultipleChoices &&
			q.Name != quirkUnknownFields) {
			continue
		}
		q.change(res)
	}
	rep.body = encodeJSON(res.body)
	return rep, nil
}

// operation is a request in the quirk middleware.
type operation struct {
	*route
	// resourceID is the path parameter, "" without one.
	resourceID string
	// key identifies the operation: requests with the same key are attempts of one operation. attempt is the number of
	// earlier requests.
	key     string
	attempt int
	// newConnection reports whether the request is the first of its connection.
	newConnection bool
	// retriedByTransport reports whether an HTTP transport retries the write on another connection.
	retriedByTransport bool
}

// readOperation returns the operation of a request, nil if there is none, and a request with an unread body.
func (s *Simulator) readOperation(r *http.Request, a admission) (*operation, *http.Request) {
	if a.route == nil || a.route.id == "" {
		return nil, r
	}
	op := &operation{
		route: a.route, newConnection: firstOfConnection(r),
		retriedByTransport: r.Header.Get("Idempotency-Key") != "",
	}
	for _, value := range a.params {
		op.resourceID = value
	}
	r = r.Clone(r.Context())
	sum := fnv.New64a()
	if r.Body != nil {
		var head bytes.Buffer
		_, _ = io.Copy(&head, io.LimitReader(r.Body, maxBody+1)) //nolint:errcheck // the service reads on and gets the error
		fmt.Fprintf(sum, "%s", head.Bytes())
		r.Body = io.NopCloser(io.MultiReader(&head, r.Body))
	}
	op.key = r.Method + " " + a.path + "?" + r.URL.RawQuery + " " + strconv.FormatUint(sum.Sum64(), 36)
	op.attempt = a.quirks.increment(op.key)
	return op, r
}

// writes reports whether the operation changes a resource. A device login is not a resource.
func (op *operation) writes() bool {
	return op.method != http.MethodGet && !strings.HasPrefix(op.pattern, "/auth/")
}

// requestsKey is the context key of the request counter of a connection.
type requestsKey struct{}

// countRequests is the ConnContext of the HTTP server.
func countRequests(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, requestsKey{}, new(atomic.Int64))
}

// firstOfConnection counts a request and reports whether it is the first of its connection.
func firstOfConnection(r *http.Request) bool {
	n, ok := r.Context().Value(requestsKey{}).(*atomic.Int64)
	return !ok || n.Add(1) == 1
}

// recorder buffers a response of the service.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	wrote  bool
}

func (rec *recorder) Header() http.Header { return rec.header }

func (rec *recorder) WriteHeader(status int) {
	if !rec.wrote {
		rec.status, rec.wrote = status, true
	}
}

func (rec *recorder) Write(b []byte) (int, error) {
	rec.wrote = true
	return rec.body.Write(b)
}

// withoutLimitHeaders implements limit-headers-absent.
type withoutLimitHeaders struct{ http.ResponseWriter }

func (w withoutLimitHeaders) WriteHeader(status int) {
	for _, header := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		w.Header().Del(header)
	}
	w.ResponseWriter.WriteHeader(status)
}

// quirkedResponse is a response that quirks change.
type quirkedResponse struct {
	*operation
	*quirkSet
	now    time.Time
	status int
	// before is the status of the instance before the request.
	before oldStatus
	// query is the query of a list. neighboursFrom is the number of foreign items on earlier pages, -1 for none.
	query          url.Values
	neighboursFrom int
	body           map[string]any
}

// items returns the resources of the response.
func (res *quirkedResponse) items() []map[string]any {
	if !res.lists() {
		return []map[string]any{res.body}
	}
	var items []map[string]any
	for _, item := range res.data() {
		if object, ok := item.(map[string]any); ok {
			items = append(items, object)
		}
	}
	return items
}

func (res *quirkedResponse) data() []any {
	data, _ := res.body["data"].([]any)
	return data
}

func (res *quirkedResponse) setData(data []any) {
	if data == nil {
		data = []any{}
	}
	res.body["data"] = data
}

// identifier returns the field that identifies an item.
func identifier(item map[string]any) string {
	for _, field := range []string{"id", "slug", "device_code", "key_id", "email"} {
		if name, ok := item[field].(string); ok {
			return name
		}
	}
	return ""
}

// object returns a field that is an object, or nil.
func object(item map[string]any, field string) map[string]any {
	inner, _ := item[field].(map[string]any)
	return inner
}
