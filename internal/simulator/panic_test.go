package simulator_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

type panics struct{ simulator.Hooks }

func (panics) ListsAll(*http.Request) bool { panic("test") }

// No request is known to cause a panic.
func TestHandlerPanic_IsInternalError(t *testing.T) {
	var log bytes.Buffer
	api := uncheckedClient(t, simulator.Config{APIKey: testKey, Hooks: panics{},
		Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
	for range 2 { // the second request proves that no lock is held
		a := api.get("/offers")
		id := a.header.Get("X-Request-Id")
		equal(t, "details", asJSON(a.failsWithStatus(500, "internal")), asJSON(object{"request_id": id}))
		check(t, bytes.Contains(log.Bytes(), []byte(id)), "the log does not name the request: %s", &log)
	}
}
