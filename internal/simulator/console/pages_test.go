package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestLogin_ApproveAndDeny(t *testing.T) {
	for _, c := range []struct {
		language     string
		scriptless   bool
		button, says string
		status       int
	}{
		{"en", false, "approve", "Approved", http.StatusOK},
		{"ru", true, "deny", "Отклонено", http.StatusBadRequest},
	} {
		server := start(t)
		page := open(t, server)
		_, login := call(t, server, "POST", "/auth/device", `{"client_name": "my <b>laptop</b>"}`)
		code, _ := login["user_code"].(string)
		address, _ := login["verification_uri"].(string)
		typed := strings.ToLower(strings.ReplaceAll(code, "-", " "))
		page.run(language(c.language), send(emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: c.scriptless}), chromedp.Navigate(address),
			chromedp.SendKeys(chromedp.CSS("#code"), typed+"\r"))
		page.shows("main", "my <b>laptop</b>", code)
		page.run(chromedp.Click(chromedp.CSS("button[value=" + c.button + "]")))
		page.shows("main", c.says)
		device, _ := login["device_code"].(string)
		status, token := call(t, server, "POST", "/auth/device/token", fmt.Sprintf(`{"device_code": %q}`, device))
		if status != c.status {
			t.Errorf("%s: the token endpoint answers %d %v", c.button, status, token)
		}
	}
}

// TestDashboard uses the buttons of the page and never reloads it. A name of a server is text, not HTML.
func TestDashboard(t *testing.T) {
	server := start(t)
	page := open(t, server)
	page.run(language("en"), chromedp.Navigate(server.ConsoleURL))
	page.shows("#no-instances", "No servers yet", server.BaseURL)
	page.run(size(390, 900))
	if problems := evaluate[string](page, readProblems); problems != "" {
		t.Error(problems)
	}
	page.run(size(1280, 900))
	evaluate[chromedp.Void](page, "window.unbroken = true")

	const name = `<img src=x onerror="window.unbroken=false">`
	id, _ := rent(t, server, name, "interruptible", "pytorch", 0)
	row := fmt.Sprintf("tr[data-id=%q]", id)
	act := func(action string) {
		page.press(row + " summary")
		page.press(row + fmt.Sprintf(" button[data-action=%s]", action))
	}
	page.shows(row, name, "creating", "no address yet")
	page.press("[data-advance='600']")
	page.shows(row, "running")
	page.press("[data-advance='600']")
	page.shows(row, "ssh -p", "root@", "TensorBoard")
	page.press("[data-advance='3600']")
	page.shows("#ledger", "Usage")
	act("outbid")
	page.shows("#toast", "Done")
	page.shows(row, "outbid")
	call(t, server, "POST", "/instances/"+id+"/start", "")
	page.press("[data-advance='600']")
	page.shows(row, "running")
	act("adminStop")
	page.shows(row, "stopped", "by an admin")
	call(t, server, "POST", "/instances/"+id+"/start", "")
	page.press("[data-advance='86400']")
	page.shows(row, "running")
	page.press("#empty")
	page.shows(row, "funds exhausted")
	page.press("#top-up")
	page.shows("#ledger", "Adjustment", "+1,000.00")
	second, _ := rent(t, server, "loser", "on_demand", "ubuntu", 0)
	row = fmt.Sprintf("tr[data-id=%q]", second)
	act("fail")
	page.shows(row, "failed")
	act("destroy")
	page.run(chromedp.WaitNotPresent(chromedp.CSS(row)))

	page.run(chromedp.SetValue(chromedp.CSS("#fault [name=kind]"), `{"status":503}`),
		chromedp.SetValue(chromedp.CSS("#fault [name=path]"), "/me"))
	page.press("#fault button")
	page.shows("#faults", "active: 1")
	page.press("#clear-faults")
	page.run(chromedp.WaitNotVisible(chromedp.CSS("#faults")))
	if !evaluate[bool](page, "window.unbroken === true") {
		t.Error("the page was loaded again, or has run a name")
	}
	evaluate[chromedp.Void](page, `window.really = fetch; fetch = () => Promise.reject(new Error())`)
	page.shows("#connection", "Connection lost")
	evaluate[chromedp.Void](page, `fetch = window.really`)
	page.shows("#connection", "live")
}

// screenshots is the variable with the folder for the pictures of TestScreenshots. "make images" sets it.
const screenshots = "GPURENT_SCREENSHOTS"

// readWidth returns the width of a page after its next layout.
const readWidth = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
	done(document.scrollingElement.scrollWidth))))`

// readProblems returns what a screen reader or a keyboard cannot use: the faults that axe-core found in these pages.
const readProblems = `(() => {
	const all = selector => [...document.querySelectorAll(selector)].filter(e => e.checkVisibility());
	const name = e => e.ariaLabel ?? document.getElementById(e.getAttribute('aria-labelledby'))?.textContent ?? e.tagName;
	const landmarks = all('header, main, section[aria-label], section[aria-labelledby], [role=region]').map(name);
	const scrolls = e => /auto|scroll/.test(getComputedStyle(e).overflow) &&
		(e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight);
	return [
		...(all('h1').length === 1 ? [] : ['not one h1']),
		...landmarks.filter((n, i) => landmarks.indexOf(n) !== i).map(n => 'two landmarks: ' + n),
		...all('body *').filter(e => scrolls(e) && e.tabIndex < 0).map(e => 'no focus: ' + e.outerHTML),
		...all('input, select').filter(e => !e.labels.length && !e.ariaLabel).map(e => 'no label: ' + e.outerHTML),
	].join('\n');
})()`

// TestScreenshots looks at each page in both languages, light and dark mode, and several widths: it has its texts, fits
// the width and needs no horizontal scrolling. It writes the pictures of the documentation if their folder is set.
func TestScreenshots(t *testing.T) {
	server := start(t)
	busy(t, server)
	_, login := call(t, server, "POST", "/auth/device", `{"client_name": "terraform on build-7"}`)
	approval, _ := login["verification_uri_complete"].(string)
	code, _ := login["user_code"].(string)
	page := open(t, server)
	for _, name := range []string{"en", "ru"} {
		page.run(language(name))
		for _, c := range []struct {
			address       string
			width, height int64
			pictures      map[string]string // by mode
			en, ru        string
			says          []string
		}{
			{server.ConsoleURL, 1280, 840, map[string]string{"light": "console-light", "dark": "console-dark"},
				"Balance over time", "Баланс во времени", []string{"ssh -p", "trainer-0", "renderer"}},
			{approval, 800, 520, map[string]string{"light": "login-approval"}, "Approve", "Разрешить",
				[]string{"terraform on build-7", code}},
			{server.ConsoleURL + "device", 800, 520, nil, "Enter the code", "Введите код", nil},
		} {
			says := slices.Concat(c.says, []string{map[string]string{"en": c.en, "ru": c.ru}[name]})
			grounds := map[string]string{}
			for _, mode := range []string{"light", "dark"} {
				page.run(size(c.width, c.height), scheme(mode), chromedp.Navigate(c.address))
				page.shows("main", says...)
				if strings.Contains(page.text("body"), "undefined") {
					t.Errorf("%s: a text is missing: %s", c.address, page.text("body"))
				}
				if folder := os.Getenv(screenshots); folder != "" && c.pictures[mode] != "" && name == "en" {
					page.run(capture(filepath.Join(folder, c.pictures[mode]+".png")))
				}
				grounds[mode] = evaluate[string](page, `getComputedStyle(document.body).backgroundColor`)
			}
			for _, width := range []int64{320, 768, 1280} {
				page.run(size(width, c.height))
				wide, problems := evaluate[int64](page, readWidth), evaluate[string](page, readProblems)
				if problems != "" || wide > width {
					t.Errorf("%s in %s at %d: %d wide\n%s", c.address, name, width, wide, problems)
				}
			}
			if grounds["light"] == grounds["dark"] {
				t.Errorf("%s: light and dark look the same: %v", c.address, grounds)
			}
		}
	}
}

// capture writes a picture of the page.
func capture(file string) action {
	return func(ctx context.Context, _ *chromedp.Target) (none chromedp.Void, err error) {
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return none, err
		}
		return none, os.WriteFile(file, picture, 0o600)
	}
}

// busy creates instances in many states and some hours of history.
func busy(t *testing.T, server *simulator.Server) {
	t.Helper()
	rent(t, server, "trainer-0", "on_demand", "pytorch-jupyter", 20)
	rent(t, server, "trainer-1", "on_demand", "pytorch-jupyter", 22)
	_, bidOffer := rent(t, server, "sweep-a", "interruptible", "pytorch", 10)
	stopped, _ := rent(t, server, "sweep-b", "interruptible", "pytorch", 12)
	server.Advance(5*time.Hour + 20*time.Minute)
	err := errors.Join(server.SetOffer(bidOffer, simulator.OfferPatch{InterruptibleKopH: new(int64(90_000))}),
		server.SetInstance(stopped, simulator.InstancePatch{Status: new("stopped"), DesiredState: new("stopped"),
			StopReason: new("provider")}),
		server.SetAccount(simulator.AccountPatch{CreditLimitKop: new(int64(500_000))}))
	server.Advance(3 * time.Hour)
	failed, _ := rent(t, server, "renderer", "on_demand", "blender", 2)
	err = errors.Join(err, server.SetInstance(failed, simulator.InstancePatch{Status: new("failed")}))
	rent(t, server, "llm", "on_demand", "vllm", 30)
	server.Advance(4 * time.Minute)
	if err := errors.Join(err, server.AddFault(simulator.Fault{Path: "/gpus", Status: 503})); err != nil {
		t.Fatal(err)
	}
}
