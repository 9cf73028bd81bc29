package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func decode(t *testing.T, body io.Reader) map[string]any {
	t.Helper()
	response := map[string]any{}
	if err := json.NewDecoder(body).Decode(&response); err != nil {
		t.Fatal(err)
	}
	return response
}

// rent rents an offer from the list of a rental type. It returns the ids of the instance and the offer.
func rent(t *testing.T, server *simulator.Server, name, rental, template string, nth int) (id, offer string) {
	t.Helper()
	_, list := call(t, server, "GET", "/offers?type="+rental, "")
	offer, _ = list["data"].([]any)[nth].(map[string]any)["id"].(string)
	body := fmt.Sprintf(`{"name": %q, "offer_id": %q, "template": %q, "disk_gb": 60, "type": %q}`, name, offer,
		template, rental)
	status, made := call(t, server, "POST", "/instances", body, "Idempotency-Key", name)
	if status != http.StatusCreated {
		t.Fatalf("%d %v", status, made)
	}
	id, _ = made["id"].(string)
	return id, offer
}

func TestLogin_ApproveAndDeny(t *testing.T) {
	for _, c := range []struct {
		name, language string
		scriptless     bool
		button, says   string
		status         int
	}{
		{"approved", "en", false, "approve", "Approved", http.StatusOK},
		{"approved without JavaScript", "en", true, "approve", "Approved", http.StatusOK},
		{"denied without JavaScript, in Russian", "ru", true, "deny", "Отклонено", http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := start(t)
			page := open(t, server, c.language)
			_, login := call(t, server, "POST", "/auth/device", `{"client_name": "my <b>laptop</b>"}`)
			code, _ := login["user_code"].(string)
			address, _ := login["verification_uri"].(string)
			typed := strings.ToLower(strings.ReplaceAll(code, "-", " "))
			page.run(send(emulation.SetScriptExecutionDisabled,
				emulation.SetScriptExecutionDisabledParams{Value: c.scriptless}), chromedp.Navigate(address),
				chromedp.SendKeys(chromedp.CSS("#code"), typed+"\r"))
			page.shows("main", "my <b>laptop</b>", code)
			page.click("button[value=" + c.button + "]")
			page.shows("main", c.says)
			device, _ := login["device_code"].(string)
			status, token := call(t, server, "POST", "/auth/device/token", fmt.Sprintf(`{"device_code": %q}`, device))
			if status != c.status {
				t.Errorf("the token endpoint answers %d %v", status, token)
			}
		})
	}
}

// TestDashboard_InstanceLifecycle uses the buttons of the page and never reloads it.
func TestDashboard_InstanceLifecycle(t *testing.T) {
	server := start(t)
	page := open(t, server, "en")
	page.run(chromedp.Navigate(server.ConsoleURL))
	page.shows("#no-instances", "No servers yet", server.BaseURL)
	evaluate[chromedp.Void](page, "window.unbroken = true")

	id, offer := rent(t, server, "trainer", "interruptible", "pytorch", 0)
	row := fmt.Sprintf("tr[data-id=%q]", id)
	badge := row + " .badge"
	act := func(action string) {
		page.press(row + " summary")
		page.press(row + fmt.Sprintf(" button[data-action=%s]", action))
	}
	page.shows(badge, "creating")
	page.shows(row, "trainer", "no address yet")
	for range 4 {
		page.press("[data-advance='60']")
		page.shows("#connection", "live")
	}
	page.shows(badge, "starting")
	page.press("[data-advance='600']")
	page.shows(badge, "running")
	page.shows(row, "ssh -p", "root@", "TensorBoard")
	page.shows(".tiles", "₽ per hour", "₽ a month")
	page.press("[data-advance='3600']")
	page.shows("#ledger", "Usage", "trainer")

	act("outbid")
	page.shows(badge, "outbid")
	status, _ := call(t, server, "POST", "/instances/"+id+"/start", "")
	if status != http.StatusOK {
		t.Errorf("the new bid: %d", status)
	}
	page.shows(row, "desired: running")
	page.press("[data-advance='600']")
	page.shows(badge, "running")
	act("traffic")
	page.shows("#toast", "Done")
	act("hostGoes")
	page.shows(badge, "stopped")
	page.shows(row, "host is offline")
	act("hostBack")
	page.shows(row, "host offline")
	if status, _ := call(t, server, "POST", "/instances/"+id+"/start", ""); status != http.StatusOK {
		t.Errorf("start after the host is online: %d; offer %s", status, offer)
	}
	page.press("[data-advance='86400']")
	page.shows(badge, "running")
	page.press("#empty")
	page.shows(row, "funds exhausted")
	page.press("#top-up")
	page.shows("#ledger", "Adjustment", "+1,000.00")

	second, _ := rent(t, server, "loser", "on_demand", "ubuntu", 0)
	row = fmt.Sprintf("tr[data-id=%q]", second)
	act("failBoot")
	page.shows(row+" .badge", "failed")
	call(t, server, "DELETE", "/instances/"+second, "")
	page.press("[data-advance='600']")
	page.shows("#count", "1")
	if !evaluate[bool](page, "window.unbroken === true") {
		t.Error("the page was loaded again")
	}
}

func TestDashboard_Faults(t *testing.T) {
	server := start(t)
	page := open(t, server, "en")
	page.run(chromedp.Navigate(server.ConsoleURL),
		chromedp.SetValue(chromedp.CSS("#fault [name=kind]"), `{"status":503}`),
		chromedp.SetValue(chromedp.CSS("#fault [name=path]"), "/me"))
	page.press("#fault button")
	page.shows("#faults", "active: 1")
	if status, _ := call(t, server, "GET", "/me", ""); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	page.press("#clear-faults")
	page.vanishes("#faults")
	if status, _ := call(t, server, "GET", "/me", ""); status != http.StatusOK {
		t.Errorf("status %d after the faults were cleared", status)
	}
	// A failed call shows a message.
	evaluate[chromedp.Void](page, `fetch = () => Promise.reject(new Error())`)
	page.press("#clear-faults")
	page.shows("#toast", "Failed")
}

type screen struct {
	Wide       int64
	Background string
}

// pageLayout is the state of a page after its next layout.
const pageLayout = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(
	{Wide: document.scrollingElement.scrollWidth, Background: getComputedStyle(document.body).backgroundColor}))))`

// TestPages_FitScreens opens all pages in several widths, both languages, and light and dark mode.
func TestPages_FitScreens(t *testing.T) {
	server := start(t)
	rent(t, server, "a server with a name that goes on for quite a long while", "interruptible", "pytorch-jupyter", 0)
	rent(t, server, "short", "on_demand", "ubuntu", 1)
	server.Advance(30 * time.Hour)
	_, login := call(t, server, "POST", "/auth/device", `{}`)
	approval, _ := login["verification_uri_complete"].(string)
	heading := map[string]string{"en": "Balance over time", "ru": "Баланс во времени"}
	grounds := map[string]string{}
	for _, language := range []string{"en", "ru"} {
		page := open(t, server, language)
		for _, address := range []string{server.ConsoleURL, approval} {
			page.run(size(1280, 800), chromedp.Navigate(address))
			if address == server.ConsoleURL {
				page.shows("main", heading[language], "ssh -p")
			}
			for _, mode := range []string{"light", "dark"} {
				for _, width := range []int64{320, 360, 768, 1280} {
					page.run(size(width, 800), scheme(mode))
					fit := later[screen](page, pageLayout)
					if fit.Wide > width {
						t.Errorf("%s in %s at %d: %d wide", address, language, width, fit.Wide)
					}
					grounds[mode] = fit.Background
				}
			}
		}
	}
	if grounds["light"] == grounds["dark"] {
		t.Errorf("light and dark look the same: %v", grounds)
	}
}

func TestDashboard_LostConnection(t *testing.T) {
	server := start(t)
	page := open(t, server, "en")
	page.run(chromedp.Navigate(server.ConsoleURL))
	page.shows("#connection", "live")
	page.mu.Lock()
	page.quiet = true
	page.mu.Unlock()
	evaluate[chromedp.Void](page, `window.really = fetch; fetch = () => Promise.reject(new Error())`)
	page.shows("#connection", "Connection lost")
	evaluate[chromedp.Void](page, `fetch = window.really`)
	page.shows("#connection", "live")
}

// TestDashboard_OtherSitesCannotUseIt opens a page of another origin that tries to use the simulator.
func TestDashboard_OtherSitesCannotUseIt(t *testing.T) {
	server := start(t)
	attack := fmt.Sprintf(`<!doctype html><link rel="icon" href="data:,"><body><script>
const control = %q, tries = [];
for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded'])
  for (const mode of ['no-cors', 'cors'])
  tries.push(fetch(control + '/clock', {method: 'POST', mode, headers: {'Content-Type': type},
    body: '{"advance_seconds": 3600}'}).then(r => r.text(), () => ''));
tries.push(fetch(%q).then(r => r.text(), () => ''));
Promise.all(tries).then(all => { document.body.append('tried ' + all.length + ' and read ' + all.join('').length); });
</script>`, server.ControlURL, server.ConsoleURL+"console/overview")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if _, err := io.WriteString(w, attack); err != nil {
			t.Error(err)
		}
	}))
	defer evil.Close()
	before := server.Now()
	page := open(t, server, "en")
	page.run(chromedp.Navigate(evil.URL))
	page.shows("body", "tried 7 and read 0")
	if after := server.Now(); !after.Equal(before) {
		t.Errorf("a page of another site moved the clock from %v to %v", before, after)
	}
	page.mu.Lock()
	defer page.mu.Unlock()
	page.faults = nil // errors of the attack
}
