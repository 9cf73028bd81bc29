package instance_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The create request continues when timeouts.create expires while it is in flight.
func TestCreate_RequestOutlivesTimeout(t *testing.T) {
	t.Parallel()
	env, tf, p := startWithProxy(t)
	const timeout = 2 * time.Second // enough until the request on a busy machine
	p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if isCreate(r) {
			body, err := io.ReadAll(r.Body) // or the server does not notice that the client left
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			recorder := newRecorder(w)
			api.ServeHTTP(recorder, r)
			select {
			case <-time.After(timeout):
			case <-r.Context().Done():
				t.Error("the request was given up")
			}
			writeRecorded(w, recorder)
			return
		}
		api.ServeHTTP(w, r)
	})
	inst, diags := tf.apply(nil, configWithKey("a", "timeouts", map[string]any{"create": timeout.String()}))
	p.set(nil)
	expectDiags(t, "the apply", diags, "is not ready yet")
	tf.fetch(env, inst)
}

// If timeouts.create expires before the request, the error names the timeout and not an interruption.
func TestCreate_TimeoutBeforeTheRequest(t *testing.T) {
	t.Parallel()
	env, tf, p := startWithProxy(t)
	offer, price := cheapestOffer(env)
	config := configWithOffer("a", offer.ID, price, "timeouts", map[string]any{"create": "200ms"})
	plan := tf.plan(nil, config)
	p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if strings.Contains(r.URL.Path, "/offers") {
			time.Sleep(500 * time.Millisecond)
		}
		api.ServeHTTP(w, r)
	})
	_, diags := tf.change(
		acctest.Value(tf.schema().ValueType(), nil),
		plan,
		acctest.Value(tf.schema().ValueType(), config),
	)
	expectDiags(t, "the apply", diags, "Cannot create instance", "timeouts.create")
	if n := env.CountRequests("POST", "/instances"); n != 0 {
		t.Errorf("%d requests to rent", n)
	}
}
