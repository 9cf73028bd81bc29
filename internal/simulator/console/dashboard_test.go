package console_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestDashboard_CrossOriginRefused sends requests of other sites and with DNS rebinding.
func TestDashboard_CrossOriginRefused(t *testing.T) {
	server := start(t)
	own := strings.TrimSuffix(server.ConsoleURL, "/")
	for _, path := range []string{"/", "/console/overview"} {
		for _, c := range []struct {
			name, host, header, value string
			status                    int
		}{
			{"our own page", "", "Origin", own, http.StatusOK},
			{"typed into the address bar", "", "Sec-Fetch-Site", "none", http.StatusOK},
			{"another origin", "", "Origin", "https://evil.example", http.StatusForbidden},
			{"an origin that hides", "", "Origin", "null", http.StatusForbidden},
			{"another site", "", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
			{"a name that was pointed here", "evil.example", "Sec-Fetch-Site", "same-origin", http.StatusForbidden},
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, own+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = c.host
			req.Header.Set(c.header, c.value)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != c.status || c.status != http.StatusOK &&
				strings.Contains(string(body), "balance_kop") {
				t.Errorf("%s from %s: %d %v %s", path, c.name, resp.StatusCode, err, body)
			}
		}
	}
}

// later evaluates a script that returns a promise.
func later[T any](b *tab, script string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

func TestFormat_Money(t *testing.T) {
	server := start(t)
	for language, want := range map[string][]string{
		"en": {"0.00 ₽", "0.05 ₽", "1,234.56 ₽", "−1,234,567.80 ₽", "90,071,992,547,409.91 ₽", "1,000 ₽", "1,000.50 ₽",
			"0.1 h", "71 h", "3 days"},
		"ru": {"0,00 ₽", "0,05 ₽", "1 234,56 ₽", "−1 234 567,80 ₽", "90 071 992 547 409,91 ₽", "1 000 ₽", "1 000,50 ₽",
			"0,1 ч", "71 ч", "3 дн."},
	} {
		page := open(t, server, language)
		page.run(chromedp.Navigate(server.ConsoleURL))
		got := later[[]string](page, `import('/console/assets/format.js').then(m => [
			...[0, 5, 123456, -123456780, Number.MAX_SAFE_INTEGER].map(m.formatRubles),
			m.formatWholeRubles(100000), m.formatWholeRubles(100050),
			m.formatHours(0.1), m.formatHours(71), m.formatHours(72)])`)
		for n, w := range want {
			if g := strings.ReplaceAll(got[n], "\u00a0", " "); g != w {
				t.Errorf("%s: %q, want %q", language, g, w)
			}
		}
	}
}

// TestDashboard_UpdateKeepsInput checks that menus, input and focus survive updates of the page.
func TestDashboard_UpdateKeepsInput(t *testing.T) {
	server := start(t)
	const name = `<img src=x onerror="document.title='broken'">`
	id, _ := rent(t, server, name, "on_demand", "ubuntu", 3)
	page := open(t, server, "en")
	page.run(chromedp.Navigate(server.ConsoleURL))
	row := fmt.Sprintf("tr[data-id=%q]", id)
	page.shows(row, name, "creating")
	page.press(row + " summary")
	evaluate[chromedp.Void](page, fmt.Sprintf(`document.querySelector('[name=path]').value = '/gpus';
		window.held = document.querySelector(%q); held.focus()`, row+" [data-action=adminStop]"))
	rent(t, server, "another", "on_demand", "ubuntu", 4)
	server.Advance(11 * time.Minute)
	page.shows("#instances", "another")
	page.shows(row+" .badge", "running")
	page.shows("#count", "2")
	if message := page.text("#announcement"); !strings.Contains(message, name+": running") {
		t.Errorf("announcement %q", message)
	}
	for what, script := range map[string]string{
		"the focus":      "document.activeElement === held",
		"the open menu":  "held.closest('details').open",
		"what was typed": "document.querySelector('[name=path]').value === '/gpus'",
		"the title":      "document.title !== 'broken'",
		"the new row":    fmt.Sprintf("document.querySelector(%q).previousElementSibling !== null", row),
	} {
		if !evaluate[bool](page, script) {
			t.Errorf("%s did not survive", what)
		}
	}
	page.run(chromedp.KeyEvent(kb.Escape))
	if evaluate[bool](page, "held.closest('details').open || document.activeElement.tagName !== 'SUMMARY'") {
		t.Error("Escape does not close the menu")
	}
	page.press(row + " summary")
	page.press(row + " [data-action=adminStop]")
	page.shows(row, "stopped", "by an admin")
}

func TestDashboard_CopyCommand(t *testing.T) {
	server := start(t)
	rent(t, server, "trainer", "on_demand", "ubuntu", 0)
	server.Advance(20 * time.Minute)
	page := open(t, server, "en")
	page.run(chromedp.Navigate(server.ConsoleURL))
	page.shows("#instances", "ssh -p")
	evaluate[chromedp.Void](page,
		`navigator.clipboard.writeText = text => { window.clip = text; return Promise.resolve(); }`)
	page.press(".copy")
	page.shows(".copy", "Copied")
	if clip := evaluate[string](page, "clip"); clip == "" || clip != page.text(".ssh code") {
		t.Errorf("copied %q", clip)
	}
	evaluate[chromedp.Void](page, `navigator.clipboard.writeText = () => Promise.reject(new Error())`)
	page.press(".copy")
	page.shows("#toast", "does not allow copying")
}

// TestOverview_HistoryMatchesLedger compares the balance over time with the ledger, also when not all of it is shown.
func TestOverview_HistoryMatchesLedger(t *testing.T) {
	server := start(t)
	rent(t, server, "trainer", "on_demand", "ubuntu", 0)
	for _, span := range []time.Duration{5 * time.Hour, 12 * 24 * time.Hour} {
		server.Advance(span)
		o := server.Overview()
		if len(o.History) < 3 || len(o.History) > simulator.MaxHistory || len(o.Ledger) < 3 ||
			len(o.Ledger) > simulator.MaxLedger {
			t.Fatalf("%d points, %d entries", len(o.History), len(o.Ledger))
		}
		after := map[time.Time]int64{}
		sum := o.Balance.BalanceKop
		for _, entry := range o.Ledger {
			after[entry.At] = sum
			sum -= entry.AmountKop
		}
		matched := 0
		for n, point := range o.History[:len(o.History)-1] {
			if want, known := after[point.At]; known {
				matched++
				if point.BalanceKop != want {
					t.Errorf("point %d, %v: %d, want %d", n, point.At, point.BalanceKop, want)
				}
			}
			if n > 0 && point.At.Before(o.History[n-1].At) {
				t.Errorf("point %d, %v: goes back", n, point.At)
			}
		}
		last := o.History[len(o.History)-1]
		if matched == 0 || !last.At.Equal(o.Now) || last.BalanceKop != o.Balance.AvailableKop {
			t.Errorf("%d points match; the last is %v, now %v with %+v", matched, last, o.Now, o.Balance)
		}
	}
}

// TestDashboard_Chart tests the chart without and with a history.
func TestDashboard_Chart(t *testing.T) {
	server := start(t)
	page := open(t, server, "en")
	page.run(chromedp.Navigate(server.ConsoleURL))
	page.shows("#chart", "₽")
	checkChart := func(when string) {
		t.Helper()
		for _, span := range []string{"3600", "86400", "604800", "0"} {
			page.press(fmt.Sprintf("[data-range=%q]", span))
			drawn := evaluate[string](page, "document.querySelector('#chart').innerHTML")
			if strings.Contains(drawn, "NaN") || strings.Contains(drawn, "Infinity") ||
				!strings.Contains(drawn, `class="line"`) || !strings.Contains(drawn, "₽</text>") {
				t.Errorf("%s, span %s: %s", when, span, drawn)
			}
		}
	}
	checkChart("nothing has happened")
	rent(t, server, "trainer", "on_demand", "ubuntu", 0)
	server.Advance(26*time.Hour + 10*time.Minute)
	if err := server.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(-5))}); err != nil {
		t.Fatal(err)
	}
	page.shows("#ledger", "Adjustment")
	checkChart("the money ran out")
	// With the keyboard: the last point is the available balance, the one before is the adjustment.
	page.run(chromedp.Focus(chromedp.CSS("#chart")))
	page.run(chromedp.KeyEvent(kb.ArrowLeft))
	page.shows("#chart .value", page.text("#available"), "2026-03-03 12:10:00 UTC")
	for range 40 {
		page.run(chromedp.KeyEvent(kb.ArrowLeft))
	}
	page.shows("#chart .value", "5,000.00", "2025-12-02") // the first top-up
}

// TestDashboard_HiddenPageSendsNothing counts the requests of a hidden page.
func TestDashboard_HiddenPageSendsNothing(t *testing.T) {
	server := start(t)
	page := open(t, server, "en")
	page.run(chromedp.Navigate(server.ConsoleURL))
	page.shows("#connection", "live")
	evaluate[chromedp.Void](page, `
		window.hide = hidden => {
			Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
			document.dispatchEvent(new Event('visibilitychange')); };
		window.sent = 0;
		window.really = fetch;
		fetch = (...all) => { sent++; return really(...all); };
		hide(true)`)
	// The page uses the clock of the browser: two of its intervals must pass.
	time.Sleep(2500 * time.Millisecond)
	if sent := evaluate[int](page, "sent"); sent > 1 {
		t.Errorf("a hidden page sent %d requests", sent)
	}
	evaluate[chromedp.Void](page, "sent = 0; hide(false)")
	if sent := evaluate[int](page, "sent"); sent != 1 {
		t.Errorf("the page sent %d requests when it became visible", sent)
	}
}
