package instance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// responder answers a request in place of the service, or passes it on.
type responder func(w http.ResponseWriter, r *http.Request, service http.Handler)

// middlebox is between the provider and the service. It passes everything on until a test sets handle.
type middlebox struct {
	mu     sync.Mutex
	handle responder
}

func (m *middlebox) set(handle responder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handle = handle
}

func (m *middlebox) wrap(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		handle := m.handle
		m.mu.Unlock()
		if handle == nil {
			service.ServeHTTP(w, r)
			return
		}
		handle(w, r, service)
	})
}

// behindMiddlebox starts a service and a provider that does not retry by itself.
func behindMiddlebox(t *testing.T, arguments ...any) (*acctest.Env, *host, *middlebox) {
	t.Helper()
	m := &middlebox{}
	env := acctest.Start(t, acctest.WithWrap(m.wrap))
	config := map[string]any{"max_retries": int64(0)}
	for i := 0; i < len(arguments); i += 2 {
		config[arguments[i].(string)] = arguments[i+1]
	}
	return env, newHost(t, env, config), m
}

func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instances")
}

// rewrites changes the body of the answers to the requests that match.
func rewrites(matches func(*http.Request) bool, change func(body map[string]any)) responder {
	return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if !matches(r) {
			service.ServeHTTP(w, r)
			return
		}
		recorder := recorderFor(w)
		service.ServeHTTP(recorder, r)
		var body map[string]any
		if err := json.Unmarshal(recorder.Body.Bytes(), &body); err == nil && recorder.Code/100 == 2 {
			change(body)
			recorder.Body.Reset()
			_ = json.NewEncoder(recorder.Body).Encode(body) //nolint:errcheck // into memory
		}
		maps.Copy(w.Header(), recorder.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes()) //nolint:errcheck // the client tells
	}
}

// recorderFor records an answer, with the headers that are set before the service gets the request.
func recorderFor(w http.ResponseWriter) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	maps.Copy(recorder.Header(), w.Header())
	return recorder
}

// pass passes on what the service returned.
func pass(w http.ResponseWriter, recorder *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), recorder.Header())
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes()) //nolint:errcheck // the client tells
}

// fails answers with an error of the service.
func fails(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":"no"}}`, code)
}

// errorsOf are the summaries of the errors.
func errorsOf(diags []*tfprotov6.Diagnostic) (summaries []string) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			summaries = append(summaries, d.Summary)
		}
	}
	return summaries
}

func (h *host) attribute(o *object, name string) tftypes.Value {
	h.Helper()
	var attributes map[string]tftypes.Value
	if err := o.state.As(&attributes); err != nil {
		h.Fatal(err)
	}
	return attributes[name]
}

// saved fails unless there is an object for one instance of the service, and returns that.
func (h *host) saved(env *acctest.Env, o *object) (inst struct {
	ID, Status string
},
) {
	h.Helper()
	if o == nil {
		h.Fatal("the state has no server")
	}
	inst.ID = h.id(o)
	inst = acctest.Fetch[struct{ ID, Status string }](env, "instances/"+inst.ID)
	return inst
}

func left(t *testing.T, env *acctest.Env, active, ever int) {
	t.Helper()
	if err := env.Left("instances", active); err != nil {
		t.Error(err)
	}
	if ever < 0 {
		return
	}
	if err := env.Left("instances?status=all", ever); err != nil {
		t.Error("ever rented:", err)
	}
}

// cheapest is the offer that keyed takes, and its price.
func cheapest(env *acctest.Env) (acctest.Offer, int64) {
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	return offer, offer.Price.OnDemandKopH
}

// offered is keyed with an offer and a cap.
func offered(name, offerID string, limit int64, arguments ...any) map[string]any {
	arguments = append([]any{"offer_query", nil, "offer_id", offerID, "max_price_kop_h", limit}, arguments...)
	return keyed(name, arguments...)
}

func expensive(body map[string]any) {
	body["price"].(map[string]any)["running_kop_h"] = 990_016
}

func isRead(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/instances/")
}

// refusedAtFirst refuses two of these requests as if the status of the server did not allow them.
func refusedAtFirst(matches func(*http.Request) bool, handle responder) responder {
	var refused atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if matches(r) && refused.Add(1) <= 2 {
			fails(w, http.StatusConflict, "conflict")
			return
		}
		handle(w, r, service)
	}
}

func isStop(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/stop") }

// losesFirst carries out the first of these requests and loses its answer.
func losesFirst(matches func(*http.Request) bool, handle responder) responder {
	var lost atomic.Bool
	return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if matches(r) && !lost.Swap(true) {
			service.ServeHTTP(recorderFor(w), r)
			panic(http.ErrAbortHandler)
		}
		handle(w, r, service)
	}
}

// Whatever the answer to a create costs is compared with the cap. A server of this apply is destroyed, one of an earlier
// run stopped, and the state has what is left.
func TestCreate_AnswerAboveCap(t *testing.T) {
	t.Parallel()
	refuses := func(method, suffix string, handle responder) responder {
		return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
			if r.Method == method && strings.HasSuffix(r.URL.Path, suffix) && strings.Contains(r.URL.Path, "/instances/") {
				fails(w, http.StatusServiceUnavailable, "provider_unavailable")
				return
			}
			handle(w, r, service)
		}
	}
	for name, test := range map[string]struct {
		handle  responder
		earlier bool // an earlier run rented it with the same key
		byQuery bool
		want    string
		state   bool
		status  string // in the service
	}{
		"new":                        {handle: rewrites(isCreate, expensive), want: "was destroyed: price above max_price_kop_h", status: "destroyed"},
		"new, by query":              {handle: rewrites(isCreate, expensive), byQuery: true, want: "was destroyed: price above max_price_kop_h", status: "destroyed"},
		"own, replayed":              {handle: losesFirst(isCreate, rewrites(isCreate, expensive)), want: "was destroyed: price above max_price_kop_h", status: "destroyed"},
		"new, cannot be destroyed":   {handle: refuses("DELETE", "", rewrites(isCreate, expensive)), want: "runs at a price above max_price_kop_h", state: true, status: "running"},
		"new, expensive when read":   {handle: rewrites(isRead, expensive), want: "was destroyed: price above max_price_kop_h", status: "destroyed"},
		"earlier, refused at first":  {handle: refusedAtFirst(isStop, rewrites(isCreate, expensive)), earlier: true, want: "was stopped: price above max_price_kop_h", state: true, status: "stopped"},
		"earlier, stop is lost":      {handle: losesFirst(isStop, rewrites(isCreate, expensive)), earlier: true, want: "was stopped: price above max_price_kop_h", state: true, status: "stopped"},
		"earlier":                    {handle: rewrites(isCreate, expensive), earlier: true, want: "was stopped: price above max_price_kop_h", state: true, status: "stopped"},
		"earlier, cannot be stopped": {handle: refuses("POST", "/stop", rewrites(isCreate, expensive)), earlier: true, want: "runs at a price above max_price_kop_h", state: true, status: "running"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, m := behindMiddlebox(t)
			offer, price := cheapest(env)
			config := keyed("a", "max_price_kop_h", price)
			if !test.byQuery {
				config["offer_query"], config["offer_id"] = nil, offer.ID
			}
			if test.earlier {
				_, diags := newHost(t, env, nil).apply(nil, config)
				expect(t, "the earlier run", diags)
				env.Advance(time.Minute)
			}
			m.set(test.handle)
			server, diags := h.apply(nil, config)
			m.set(nil)
			expect(t, "the apply", diags, test.want, "9 900,16", "max_price_kop_h is")
			if (server != nil) != test.state {
				t.Fatalf("in the state: %t", server != nil)
			}
			env.Advance(time.Minute)
			all := acctest.Fetch[struct {
				Data []struct{ ID, Status string }
			}](env, "instances?status=all").Data
			if len(all) != 1 || all[0].Status != test.status || test.state && all[0].ID != h.id(server) {
				t.Errorf("the service has %v, want one that is %s", all, test.status)
			}
		})
	}
}

// What the disk costs is no reason to destroy a server.
func TestCreate_DiskIsBeyondCap(t *testing.T) {
	t.Parallel()
	env, h, _ := behindMiddlebox(t)
	offer, price := cheapest(env)
	server, diags := h.apply(nil, offered("a", offer.ID, price, "disk_gb", int64(120)))
	expect(t, "the apply", diags)
	var parts map[string]tftypes.Value
	if err := h.attribute(server, "price").As(&parts); err != nil {
		t.Fatal(err)
	}
	if parts["running_kop_h"].Equal(tftypes.NewValue(tftypes.Number, price)) {
		t.Error("the disk costs nothing: this tests nothing")
	}
}

// An offer above the cap is not rented, whether or not it is available.
func TestCreate_UnavailableOfferAboveCap(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]any{"random key": nil, "fixed key": "k"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, m := behindMiddlebox(t)
			offer, price := cheapest(env)
			// The listing and the offer disagree with what the service then does: it rents.
			m.set(rewrites(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/offers/"+offer.ID) }, func(body map[string]any) {
				body["available"] = false
				body["price"].(map[string]any)["on_demand_kop_h"] = price + 1
			}))
			server, diags := h.apply(nil, offered("a", offer.ID, price, "idempotency_key", key))
			expect(t, "the apply", diags, "Offer price above max_price_kop_h")
			if server != nil {
				t.Error("the state has a server")
			}
			left(t, env, 0, 0)
		})
	}
}

// With a random key an offer that is known to be gone is not asked for. With a fixed one it is: an earlier run may have rented it.
func TestCreate_OfferGone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key   any
		posts int
	}{"random key": {nil, 0}, "fixed key": {"k", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, _ := behindMiddlebox(t)
			offer, price := cheapest(env)
			available(t, env, offer.ID, false)
			_, diags := h.apply(nil, offered("a", offer.ID, price, "idempotency_key", test.key))
			expect(t, "the apply", diags, "offer "+offer.ID+" is not available")
			if n := env.CountRequests("POST", "/instances"); n != test.posts {
				t.Errorf("%d requests to rent, want %d", n, test.posts)
			}
		})
	}
}

// The server of an earlier run is found under its key when its offer costs too much by now. Its own price is locked.
func TestCreate_TakesOverWhileTheOfferIsAboveCap(t *testing.T) {
	t.Parallel()
	env, h, _ := behindMiddlebox(t)
	offer, price := cheapest(env)
	config := offered("a", offer.ID, price)
	first, diags := newHost(t, env, nil).apply(nil, config)
	expect(t, "the earlier run", diags)
	env.Advance(time.Minute)
	if err := env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(2 * price)}); err != nil {
		t.Fatal(err)
	}
	// The plan refuses it before it asks for the key, so this is what happens when the price rises after the plan.
	plan := h.plan(nil, keyed("a", "offer_query", nil, "offer_id", offer.ID, "max_price_kop_h", 3*price))
	config["max_price_kop_h"] = price
	value := acctest.Value(h.schema().ValueType(), config)
	plan.state = h.pack(h.with(h.unpack(plan.state), "max_price_kop_h", price))
	server, diags := h.change(acctest.Value(h.schema().ValueType(), nil), plan, value)
	expect(t, "the takeover", diags, "Recovered instance "+h.id(first))
	if h.id(server) != h.id(first) {
		t.Error("it is another server")
	}
}

// with is a value with another attribute.
func (h *host) with(value tftypes.Value, name string, attribute any) tftypes.Value {
	h.Helper()
	attributes := map[string]tftypes.Value{}
	if err := value.As(&attributes); err != nil {
		h.Fatal(err)
	}
	attributes[name] = acctest.Value(attributes[name].Type(), attribute)
	return tftypes.NewValue(value.Type(), attributes)
}

// Before the request is repeated the price is read again. Above the cap the repetition can only find what was rented.
func TestCreate_PriceRisesBetweenRetries(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rented bool // by the request whose answer was lost
		want   string
	}{
		"nothing was rented": {false, "Offer price above max_price_kop_h"},
		"it was rented":      {true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, m := behindMiddlebox(t, "request_timeout", "1s") // after which no lost request is in flight
			offer, price := cheapest(env)
			var posts atomic.Int64
			m.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
				if !isCreate(r) || posts.Add(1) > 3 {
					service.ServeHTTP(w, r)
					return
				}
				if posts.Load() == 1 && test.rented {
					service.ServeHTTP(recorderFor(w), r)
				}
				if err := env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(100 * price)}); err != nil {
					t.Error(err)
				}
				fails(w, http.StatusServiceUnavailable, "provider_unavailable")
			})
			server, diags := h.apply(nil, offered("a", offer.ID, price, "idempotency_key", nil))
			m.set(nil)
			if test.want == "" {
				expect(t, "the apply", diags)
				h.saved(env, server)
				left(t, env, 1, 1)
				return
			}
			expect(t, "the apply", diags, test.want)
			left(t, env, 0, 0)
		})
	}
}

// A new server is in the state whatever else its answer says. What is harmless only warns.
func TestCreate_FreshAnswerIsKept(t *testing.T) {
	t.Parallel()
	gpu := func(field string, value any) func(map[string]any) {
		return func(body map[string]any) { body["gpu"].(map[string]any)[field] = value }
	}
	set := func(field string, value any) func(map[string]any) {
		return func(body map[string]any) { body[field] = value }
	}
	for name, test := range map[string]struct {
		change func(map[string]any)
		errors string
		want   string
	}{
		"image spelled differently": {set("image", "docker.io/library/ubuntu:24.04"), "", ""},
		"another image":             {set("image", "docker.io/library/debian:12"), "differs from the request", "docker.io/library/debian:12"},
		"another GPU":               {gpu("slug", "rtx-4090-pcie"), "", "differs from its offer"},
		"fewer GPUs":                {gpu("count", 0.0+1), "differs from the request", "gpu.count is 1 instead of 2"},
		"less VRAM":                 {gpu("vram_gb", 8), "differs from the request", "gpu.vram_gb is 8 instead of 12"},
		"another type":              {set("type", "interruptible"), "differs from the request", "type is interruptible"},
		"a smaller disk":            {set("disk_gb", 20), "differs from the request", "disk_gb is 20"},
		"a larger disk":             {set("disk_gb", 64), "", "disk_gb is 64"},
		"another template":          {set("template", map[string]any{"slug": "ubuntu", "name": "Ubuntu"}), "differs from the request", "template is ubuntu"},
		"an unreadable field":       {set("disk_gb", "sixty"), "was created, but the answer cannot be read", "disk_gb"},
		"everything optional is absent": {func(body map[string]any) {
			for _, field := range strings.Fields("name desired_state template image disk_gb country cost_so_far_kop ssh urls created_at started_at stop_reason") {
				delete(body, field)
			}
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, m := behindMiddlebox(t)
			offer := env.Offers("num_gpus=2")[0]
			config := keyed("a", "template", "custom", "image", "ubuntu:24.04", "offer_query", nil, "offer_id", offer.ID, "max_price_kop_h", offer.Price.OnDemandKopH)
			m.set(rewrites(isCreate, test.change))
			server, diags := h.apply(nil, config)
			m.set(nil)
			h.saved(env, server)
			if test.want != "" {
				expect(t, "the apply", diags, test.want)
			} else {
				expect(t, "the apply", diags)
			}
			if got := strings.Join(errorsOf(diags), " "); (got == "") != (test.errors == "") || !strings.Contains(got, test.errors) {
				t.Errorf("errors %q, want %q", got, test.errors)
			}
			left(t, env, 1, 1)
			if test.errors != "" {
				return
			}
			h.refresh(server)
			if plan := h.plan(server, config); plan.replaces || len(plan.diags) > 0 || !h.unpack(plan.state).Equal(server.state) {
				t.Errorf("the next plan has changes; replaces: %t, %s", plan.replaces, said(plan.diags))
			}
		})
	}
}

// A success without an id is repeated with the same key, a bounded number of times.
func TestCreate_AnswerWithoutID(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bad  int64
		want string
	}{"once": {1, ""}, "always": {1 << 40, "Cannot determine whether the instance was created"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, m := behindMiddlebox(t)
			var posts atomic.Int64
			m.set(rewrites(func(r *http.Request) bool { return isCreate(r) && posts.Add(1) <= test.bad }, func(body map[string]any) { delete(body, "id") }))
			server, diags := h.apply(nil, keyed("a", "idempotency_key", nil))
			m.set(nil)
			left(t, env, 1, 1)
			if test.want == "" {
				expect(t, "the apply", diags)
				h.saved(env, server)
				return
			}
			expect(t, "the apply", diags, test.want)
			if n := posts.Load(); n > 5 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Two resources never have one instance, even if the service ignores the key. The second has no state, so that
// destroying it leaves the instance of the first.
func TestCreate_SameInstanceForTwoResources(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ fromState, unread bool }{
		"both are new":                  {false, false},
		"the first is in the state":     {true, false},
		"the apply does not read state": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, m := behindMiddlebox(t)
			creator := h
			if test.fromState {
				creator = newHost(t, env, nil)
			}
			first, diags := creator.apply(nil, keyed("a"))
			expect(t, "the first", diags)
			switch {
			case test.unread: // an apply plans only what changes
				h = newRun(t, env, map[string]any{"max_retries": int64(0)})
			case test.fromState:
				h.refresh(first)
			}
			id := h.id(first)
			answer := acctest.Fetch[map[string]any](env, "instances/"+id)
			m.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
				if !isCreate(r) {
					service.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				_ = json.NewEncoder(w).Encode(answer) //nolint:errcheck // the client tells
			})
			second, diags := h.apply(nil, keyed("b"))
			m.set(nil)
			expect(t, "the second", diags, "The API returned the instance of another resource", id)
			if second != nil {
				t.Error("the state has the instance twice")
			}
			left(t, env, 1, 1)
			expect(t, "a plan for the first", h.plan(first, keyed("a")).diags)
			expect(t, "the destruction of the first", h.destroy(first))
			left(t, env, 0, 1)
		})
	}
}

// The create request goes on when timeouts.create expires while it is under way.
func TestCreate_RequestOutlivesTimeout(t *testing.T) {
	t.Parallel()
	env, h, m := behindMiddlebox(t)
	m.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if isCreate(r) {
			body, err := io.ReadAll(r.Body) // or the server does not notice that the client left
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			recorder := recorderFor(w)
			service.ServeHTTP(recorder, r)
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				t.Error("the request was given up")
			}
			pass(w, recorder)
			return
		}
		service.ServeHTTP(w, r)
	})
	server, diags := h.apply(nil, keyed("a", "timeouts", map[string]any{"create": "300ms"}))
	m.set(nil)
	expect(t, "the apply", diags, "is not ready yet")
	h.saved(env, server)
}

// Where timeouts.create expires before anything was rented, that is what the error says, and not an interruption.
func TestCreate_TimeoutBeforeTheRequest(t *testing.T) {
	t.Parallel()
	env, h, m := behindMiddlebox(t)
	offer, price := cheapest(env)
	config := offered("a", offer.ID, price, "timeouts", map[string]any{"create": "200ms"})
	plan := h.plan(nil, config)
	m.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if strings.Contains(r.URL.Path, "/offers") {
			time.Sleep(500 * time.Millisecond)
		}
		service.ServeHTTP(w, r)
	})
	_, diags := h.change(acctest.Value(h.schema().ValueType(), nil), plan, acctest.Value(h.schema().ValueType(), config))
	expect(t, "the apply", diags, "Cannot create instance", "timeouts.create")
	if n := env.CountRequests("POST", "/instances"); n != 0 {
		t.Errorf("%d requests to rent", n)
	}
}

// A server that is taken over keeps a template of the same content, also if the create response leaves its template
// out.
func TestCreate_TakeoverWithOmittedTemplate(t *testing.T) {
	t.Parallel()
	env, h, m := behindMiddlebox(t)
	const content = `{"name": "Own", "image": "ubuntu:24.04", "launch_mode": "ssh", "ports": [8080]}`
	slugs := func() (own []any) {
		type template struct{ Slug, Owner string }
		for _, t := range acctest.Fetch[struct{ Data []template }](env, "templates?limit=200").Data {
			if t.Owner == "me" {
				own = append(own, t.Slug)
			}
		}
		return own
	}
	env.Post("templates", content)
	first := slugs()
	_, diags := newHost(t, env, nil).apply(nil, keyed("a", "template", first[0]))
	expect(t, "the earlier run", diags)
	env.Advance(time.Minute)
	env.Post("templates", content)
	second := slices.DeleteFunc(slugs(), func(slug any) bool { return slug == first[0] })
	m.set(rewrites(isCreate, func(body map[string]any) { delete(body, "template") }))
	config := keyed("a", "template", second[0])
	server, diags := h.apply(nil, config)
	m.set(nil)
	expect(t, "the takeover", diags, "Recovered instance")
	h.refresh(server)
	plan := h.plan(server, config)
	expect(t, "a plan", plan.diags)
	if plan.replaces {
		t.Error("the server is replaced")
	}
	left(t, env, 1, 1)
}

// A renamed resource with an unchanged key has one server after two applies at most, in whatever order Terraform destroys
// the old address and creates the new one.
func TestCreate_RenamedResource(t *testing.T) {
	t.Parallel()
	config := keyed("a", "idempotency_key", "k")
	for name, test := range map[string]struct {
		sameProcess bool
		apply       func(h *host, old *object) *object
	}{
		"destroyed first": {false, func(h *host, old *object) *object {
			expect(h.T, "the destruction", h.destroy(old))
			server, diags := h.apply(nil, config)
			expect(h.T, "the creation", diags)
			return server
		}},
		"created first": {false, func(h *host, old *object) *object {
			server, diags := h.apply(nil, config)
			expect(h.T, "the creation", diags, "Recovered instance")
			expect(h.T, "the destruction", h.destroy(old), "was not replaced")
			return server
		}},
		"destroyed first, one process": {true, func(h *host, old *object) *object {
			expect(h.T, "the destruction", h.destroy(old))
			server, diags := h.apply(nil, config)
			expect(h.T, "the creation", diags)
			return server
		}},
		"created first, one process": {true, func(h *host, old *object) *object {
			server, _ := h.apply(nil, config)
			h.destroy(old)
			return server
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, h, _ := behindMiddlebox(t)
			old, diags := h.apply(nil, config)
			expect(t, "the server", diags)
			expect(t, "a plan without changes", h.plan(old, config).diags)
			env.Advance(time.Minute)
			if !test.sameProcess {
				h = newHost(t, env, nil)
			}
			server := test.apply(h, old)
			env.Advance(time.Minute)
			server = settled(h, server, config)
			if inst := h.saved(env, server); inst.Status != "running" {
				t.Errorf("it is %s", inst.Status)
			}
			left(t, env, 1, -1)
		})
	}
}

// settled is the resource after another apply.
func settled(h *host, server *object, config map[string]any) *object {
	h.Helper()
	if server != nil {
		h.refresh(server)
		if server.state.IsNull() {
			server = nil
		}
	}
	server, diags := h.apply(server, config)
	expect(h.T, "the second apply", diags)
	return server
}

// A service may show the image of a server differently later, for example by its digest.
func TestRead_KeepsTheImage(t *testing.T) {
	t.Parallel()
	_, h, m := behindMiddlebox(t)
	config := keyed("a", "template", "custom", "image", "ubuntu:24.04")
	server, diags := h.apply(nil, config)
	expect(t, "the apply", diags)
	m.set(rewrites(isRead, func(body map[string]any) { body["image"] = "ubuntu@sha256:" + strings.Repeat("0a", 32) }))
	h.refresh(server)
	if h.plan(server, config).replaces {
		t.Error("the plan replaces the server")
	}
}

// A running server above its cap is named by every plan.
func TestPlan_WarnsOfAServerAboveItsCap(t *testing.T) {
	t.Parallel()
	_, h, m := behindMiddlebox(t)
	config := keyed("a", "max_price_kop_h", int64(10_000))
	server, diags := h.apply(nil, config)
	expect(t, "the apply", diags)
	h.refresh(server)
	expect(t, "a plan", h.plan(server, config).diags)
	m.set(rewrites(isRead, expensive))
	h.refresh(server)
	expect(t, "a plan above the cap", h.plan(server, config).diags, "WARNING: Instance "+h.id(server)+" runs above its price cap", "898,95")
}

// A service may normalize names.
func TestRead_KeepsANormalizedName(t *testing.T) {
	t.Parallel()
	env, h, m := behindMiddlebox(t)
	name := ""
	lower := func(body map[string]any) { body["name"] = strings.ToLower(name) }
	m.set(rewrites(func(r *http.Request) bool { return isRead(r) || isCreate(r) || r.Method == http.MethodPatch }, lower))
	var server *object
	for _, name = range []string{"First", "Second"} {
		config := keyed("a", "name", name)
		var diags []*tfprotov6.Diagnostic
		server, diags = h.apply(server, config)
		expect(t, "the apply", diags)
		h.refresh(server)
		if got := textOf(h.attribute(server, "name")); got != name {
			t.Errorf("the state has the name %q, want %q", got, name)
		}
	}
	name = "Third"
	h.refresh(server)
	if got := textOf(h.attribute(server, "name")); got != "third" {
		t.Errorf("after a rename elsewhere the state has the name %q", got)
	}
	left(t, env, 1, 1)
}

func textOf(value tftypes.Value) (text string) {
	if err := value.As(&text); err != nil {
		panic(err)
	}
	return text
}

// Another spelling of an image plans nothing, whichever side has it.
func TestPlan_ImageSpelling(t *testing.T) {
	t.Parallel()
	const short, long = "ubuntu:24.04", "docker.io/library/ubuntu:24.04"
	for _, test := range []struct{ template, applied, planned string }{
		{"custom", short, long},
		{"custom", long, short},
		{"ubuntu", "docker.io/nvidia/cuda:12.6.3-base-ubuntu24.04", "nvidia/cuda:12.6.3-base-ubuntu24.04"},
	} {
		env, h, _ := behindMiddlebox(t)
		config := keyed("a", "template", test.template, "image", test.applied)
		server, diags := h.apply(nil, config)
		expect(t, "the apply", diags)
		h.refresh(server)
		expect(t, "a plan", h.plan(server, config).diags)
		config["image"] = test.planned
		plan := h.plan(server, config)
		expect(t, "a plan with the other spelling", plan.diags)
		if plan.replaces {
			t.Errorf("%+v: it is replaced", test)
		}
		if config["image"] = "debian:12"; test.template == "custom" && !h.plan(server, config).replaces {
			t.Errorf("%+v: another image does not replace it", test)
		}
		left(t, env, 1, 1)
	}
}
