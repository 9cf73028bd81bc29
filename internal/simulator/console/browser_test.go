package console_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// timeout is the maximum time until a page shows something.
const timeout = 20 * time.Second

// pollInterval is the polling interval. The browser has its own clock.
const pollInterval = 50 * time.Millisecond

// tab is a browser with a page of a simulator. Errors of the page and requests to other hosts fail the test.
type tab struct {
	t      *testing.T
	ctx    context.Context
	server *simulator.Server
	mu     sync.Mutex
	faults []string
}

// open starts Chromium, or skips the test.
func open(t *testing.T, server *simulator.Server) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(testenv.Browser(t)),
		chromedp.WindowSize(1280, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	t.Cleanup(closeBrowser)
	b := &tab{t: t, ctx: ctx, server: server}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.run(send(network.Enable, network.EnableParams{}), send(log.Enable, cdp.Empty{}), send(runtime.Enable, cdp.Empty{}))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Error(fault)
		}
	})
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.faults = append(b.faults, "console: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" &&
			!strings.HasPrefix(b.server.ConsoleURL, "http://"+u.Host) {
			b.faults = append(b.faults, "request to "+e.Request.URL)
		}
	}
}

// action is an action in a tab.
type action = chromedp.Action[chromedp.Void]

// send sends a command of the Chrome DevTools Protocol.
func send[P any](command cdp.Command[P, cdp.Empty], params P) action {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, command, params)
		return chromedp.Void{}, err
	}
}

func (b *tab) run(actions ...action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// evaluate runs a script in the page and waits for the promise that it may return.
func evaluate[T any](b *tab, script string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

// text returns the visible text of an element, "" if it is hidden.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return evaluate[string](b, fmt.Sprintf("(e => e?.checkVisibility() ? e.innerText ?? e.textContent : '')"+
		"(document.querySelector(%q))", selector))
}

// wait waits until a condition holds.
func (b *tab) wait(what string, holds func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(timeout); !holds(); time.Sleep(pollInterval) {
		if time.Now().After(deadline) {
			b.t.Fatalf("%s in %q", what, b.text("body"))
		}
	}
}

// shows waits until the text of an element contains all words.
func (b *tab) shows(selector string, words ...string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("%s does not contain %q", selector, words), func() bool {
		text := b.text(selector)
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
}

// press clicks a visible element. It uses a script, because the layout may move under the mouse.
func (b *tab) press(selector string) {
	b.t.Helper()
	script := fmt.Sprintf("(e => { const seen = e?.checkVisibility() && !e.disabled; if (seen) e.click(); "+
		"return !!seen; })(document.querySelector(%q))", selector)
	b.wait(selector+" cannot be pressed", func() bool { return evaluate[bool](b, script) })
}

func language(name string) action {
	headers := network.Headers{"Accept-Language": name}
	return send(network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
}

func size(width, height int64) action {
	return send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600,
	})
}

func scheme(name string) action {
	return send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// start starts a simulator with a manual clock and a boot of ten minutes.
func start(t *testing.T) *simulator.Server {
	t.Helper()
	server, err := simulator.Start(t.Context(), simulator.Config{
		Seed: 7, Clock: simulator.ClockManual, Market: simulator.MarketStill, Boot: 10 * time.Minute,
		Start: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// call calls the API and returns the status and the members of the response.
func call(t *testing.T, server *simulator.Server, method, path, body string) (status int, response map[string]any) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, server.BaseURL+path, strings.NewReader(body))
	req.Header = http.Header{"Authorization": {"Bearer " + server.APIKey}, "Content-Type": {"application/json"},
		"Idempotency-Key": {rand.Text()}}
	rec := httptest.NewRecorder()
	server.Handler().ServeHTTP(rec, req)
	if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil {
		t.Fatal(err)
	}
	return rec.Code, response
}

// rent rents an offer from the list of a rental type. It returns the ids of the instance and the offer.
func rent(t *testing.T, server *simulator.Server, name, rental, template string, nth int) (id, offer string) {
	t.Helper()
	_, list := call(t, server, "GET", "/offers?type="+rental, "")
	offer, _ = list["data"].([]any)[nth].(map[string]any)["id"].(string)
	body := fmt.Sprintf(`{"name": %q, "offer_id": %q, "template": %q, "type": %q, "disk_gb": 60}`, name, offer,
		template, rental)
	_, made := call(t, server, "POST", "/instances", body)
	return made["id"].(string), offer
}
