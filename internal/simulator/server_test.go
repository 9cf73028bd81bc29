package simulator_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestServer(t *testing.T) {
	srv := start(t, simulator.Config{Clock: simulator.ClockReal, TimeScale: 1000, Boot: time.Second})
	if !strings.HasSuffix(srv.BaseURL, "/api/v1") || !strings.HasSuffix(srv.ControlURL, "/control") ||
		len(srv.APIKey) != 44 {
		t.Errorf("server %s %s", srv.BaseURL, srv.ControlURL)
	}
	if res, err := fetch(t.Context(), srv, "GET", "/me", ""); err != nil || res.StatusCode != 200 {
		t.Errorf("%v %v", res, err)
	}
	before := srv.Now()
	if after := srv.Advance(time.Hour); after.Sub(before) < time.Hour {
		t.Errorf("the real clock advanced by %v", after.Sub(before))
	}
	if _, err := simulator.Start(t.Context(),
		simulator.Config{Listen: strings.TrimPrefix(strings.TrimSuffix(srv.BaseURL, "/api/v1"),
			"http://")}); err == nil {
		t.Error("two simulators on one address")
	}
	for name, c := range map[string]simulator.Config{
		"clock": {Clock: "sundial"}, "scale": {TimeScale: -1}, "step": {Step: time.Second}, "boot": {Boot: -1},
		"key":           {APIKey: "short"},
		"scaled manual": {Clock: simulator.ClockManual, TimeScale: 2},
	} {
		if _, err := simulator.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// By default the network cannot reach the simulator. Otherwise it logs a warning.
func TestServer_ListensOnLoopbackByDefault(t *testing.T) {
	for listen, open := range map[string]bool{"": false, "127.0.0.1:0": false, "localhost:0": false, "0.0.0.0:0": true,
		":0": true} {
		var log bytes.Buffer
		srv := start(t, simulator.Config{Listen: listen, Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
		if !strings.HasPrefix(srv.BaseURL, "http://127.0.0.1:") {
			t.Errorf("%q: %s", listen, srv.BaseURL)
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if warned := strings.Contains(log.String(), "[WARN]") &&
			strings.Contains(log.String(), "network"); warned != open {
			t.Errorf("%q: warned %t, want %t:\n%s", listen, warned, open, &log)
		}
		if strings.Contains(log.String(), srv.APIKey) {
			t.Errorf("the API key is in the log:\n%s", &log)
		}
	}
}

func TestConfig_Step(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) { c.Step = time.Second })
	var i instance
	r.rent("k", nil).want(201).into(&i)
	polls := 0
	for i.SSH == nil {
		i = r.instance(i.ID)
		polls++
	}
	if polls != 12 {
		t.Errorf("%d polls of one second until ready, want 12", polls)
	}
}

func TestConfig_WrapCutsConnection(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) {
		c.Wrap = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		}
	})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want the wrapper's abort", p)
		}
	}()
	r.do("GET", "/me", nil)
}

func TestLog_HasNoSecrets(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(c *simulator.Config) {
		c.Log = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug})
	})
	secrets := []string{testKey, r.newKey("user:read")}
	d := r.login()
	if err := r.DecideDeviceCode(d.User, true); err != nil {
		t.Fatal(err)
	}
	var token struct {
		Key string `json:"api_key"`
	}
	r.poll(d).want(200).into(&token)
	r.as(token.Key).do("GET", "/me", nil).want(200)
	r.do("GET", "/offers?limit=0", nil).want(422)
	seen := log.String()
	for _, q := range r.Requests() {
		seen += q.Path + q.Query + q.KeyID
	}
	for _, secret := range append(secrets, token.Key, d.Device) {
		if strings.Contains(seen, secret) {
			t.Error("a secret was logged")
		}
	}
}
