package quirks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"time"
)

type withoutKey struct{}

// Without returns a context for requests to [simulator.Simulator.Handler] without quirks in requests and responses.
// Changes of instances and prices remain. Tests use it to read the actual state.
func Without(ctx context.Context) context.Context { return context.WithValue(ctx, withoutKey{}, true) }

// wrap applies the quirks to requests and responses of the service.
func (q *Set) wrap(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service := inner
		q.outbidStarted()
		a := q.now()
		if len(a.on) == 0 || r.Context().Value(withoutKey{}) != nil {
			a = nil
		}
		op, r := a.readOperation(r)
		if op != nil && op.ID == "createInstance" {
			service = q.createInstance(a, op, service)
		}
		if a == nil || op == nil {
			service.ServeHTTP(w, r)
			return
		}
		a.serve(op, service, w, r)
	})
}

// serve applies the quirks of requests and responses.
func (a *active) serve(op *operation, service http.Handler, w http.ResponseWriter, r *http.Request) {
	if a.has(statusAfterWork) { // a transport retries a write that is cut on a used connection, which hides the cut
		w.Header().Set("Connection", "close")
	}
	if a.has(limitHeadersAbsent) {
		w = withoutLimitHeaders{w}
	}
	if f := a.failBefore(op); f != nil {
		f.write(w)
		return
	}
	if a.has(smallPages) && op.lists() {
		limitPage(r.URL)
	}
	res := &response{operation: op, active: a, now: a.simulator.Load().Now(), query: r.URL.Query()}
	if a.has(laggingStatus) && op.schema == "Instance" && op.writes() {
		before := a.simulator.Load().Instance(op.resourceID)
		res.before = oldStatus{status: before.Status, desired: before.DesiredState}
	}
	if cached := res.fromCache(); cached != nil {
		res.write(w, cached)
		return
	}
	reply := res.serviceReply(service, w, r)
	// A hidden response starts no lag, because the client could not find out whether it may retry.
	if f := a.failAfter(op, reply.Code); f != nil {
		f.write(w)
		return
	}
	res.cache(reply)
	res.write(w, reply)
}

// serviceReply returns the response of the service, or one in its place.
func (res *response) serviceReply(
	service http.Handler, w http.ResponseWriter, r *http.Request,
) *httptest.ResponseRecorder {
	if f := res.refusal(); f != nil {
		service = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { f.write(w) })
	}
	if res.ID == "listOffers" && res.has(phantomOffers) {
		return res.listWithPhantom(service, w, r)
	}
	return record(service, w, r)
}

// record returns a response of the service. It has the headers that are already set.
func record(service http.Handler, w http.ResponseWriter, r *http.Request) *httptest.ResponseRecorder {
	reply := httptest.NewRecorder()
	maps.Copy(reply.Header(), w.Header())
	service.ServeHTTP(reply, r)
	return reply
}

// send writes a response. An error means that the client disconnected.
func send(w http.ResponseWriter, status int, header http.Header, body []byte) {
	maps.Copy(w.Header(), header)
	if status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil && len(body) > 0 {
		panic(http.ErrAbortHandler)
	}
}

// encode encodes JSON as the simulator does.
func encode(body any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// decode decodes a JSON object; nil for anything else, which a proxy of a test can return. Numbers keep their spelling.
func decode(body []byte) (object map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		return nil
	}
	return object
}

// operation is a request of an operation of the API.
type operation struct {
	*route
	// resourceID is the path parameter, "" without one.
	resourceID string
	body       []byte
	// key identifies the operation: requests with the same key are attempts of one operation. attempt is the number of
	// earlier requests.
	key     string
	attempt int
}

// readOperation returns the operation of a request, nil if there is none, and a request with an unread body. Without
// quirks, only the route of the operation is known.
func (a *active) readOperation(r *http.Request) (*operation, *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v1")
	rt, id := findRoute(r.Method, path)
	if rt == nil {
		return nil, r
	}
	op := &operation{route: rt, resourceID: id}
	r = r.Clone(r.Context())
	if a == nil {
		return op, r
	}
	if r.Body != nil {
		var err error
		if op.body, err = io.ReadAll(r.Body); err != nil {
			panic(http.ErrAbortHandler) // the client disconnected
		}
		r.Body = io.NopCloser(bytes.NewReader(op.body))
	}
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s", op.body)
	op.key = r.Method + " " + path + "?" + r.URL.RawQuery + " " + strconv.FormatUint(sum.Sum64(), 36)
	op.attempt = a.increment(op.key)
	return op, r
}

// writes reports whether the operation changes a resource. A device login is not a resource.
func (op *operation) writes() bool {
	return op.Method != http.MethodGet && !strings.HasPrefix(op.Path, "/auth/")
}

// withoutLimitHeaders implements limit-headers-absent.
type withoutLimitHeaders struct{ http.ResponseWriter }

func (w withoutLimitHeaders) WriteHeader(status int) {
	for _, header := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		w.Header().Del(header)
	}
	w.ResponseWriter.WriteHeader(status)
}

// response is a response that quirks change.
type response struct {
	*operation
	*active
	now    time.Time
	status int
	// before is the status of the instance before the request.
	before oldStatus
	query  url.Values
	// content is the body, which the quirks change.
	content map[string]any
}

// write writes a response of the service with the quirks of responses.
func (res *response) write(w http.ResponseWriter, reply *httptest.ResponseRecorder) {
	status, header, body := reply.Code, reply.Header(), reply.Body.Bytes()
	if other := res.replacement(status); other != nil {
		status, body = other.status, other.content()
		header.Set("Content-Type", other.contentType())
	}
	if content := decode(body); content != nil && strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		res.status, res.content = status, content
		for _, q := range table {
			if q.change != nil && res.has(q.name) && (status < http.StatusMultipleChoices || q.name == unknownFields) {
				q.change(res)
			}
		}
		body = encode(res.content)
	}
	send(w, status, header, body)
}

// items returns the resources of the response.
func (res *response) items() []map[string]any {
	if !res.lists() {
		return []map[string]any{res.content}
	}
	var items []map[string]any
	for _, item := range res.data() {
		if object, ok := item.(map[string]any); ok {
			items = append(items, object)
		}
	}
	return items
}

func (res *response) data() []any {
	data, _ := res.content["data"].([]any)
	return data
}

func (res *response) setData(data []any) {
	if data == nil {
		data = []any{}
	}
	res.content["data"] = data
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
