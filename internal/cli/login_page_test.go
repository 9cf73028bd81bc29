package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browserPatience is how long a page may take to show something on a busy machine.
const browserPatience = 20 * time.Second

// page is a tab of a real browser.
type page struct {
	t   *testing.T
	ctx context.Context
}

// approvalPage is where a user approves or denies a login.
type approvalPage interface {
	// decide opens the page at an address, types the code that a terminal shows, and presses a button.
	decide(address, code, client, decision string)
	// shows expects the page to contain all words.
	shows(words ...string)
}

// openPage starts Chromium. Without it, the forms of the page are submitted by an HTTP client.
func openPage(t *testing.T) approvalPage {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		t.Cleanup(stop)
		ctx, closeBrowser := chromedp.NewContext(allocator)
		t.Cleanup(closeBrowser)
		if err := chromedp.Do(ctx); err != nil { // the first use starts it
			t.Fatal(err)
		}
		return page{t, ctx}
	}
	t.Log("no Chromium on PATH: the forms of the page are submitted without a browser")
	return newFormPage(t)
}

func (p page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserPatience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// shows waits until the page says all of the words.
func (p page) shows(words ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserPatience)
	defer cancel()
	for {
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body?.innerText ?? ''"))
		missing := ""
		for _, word := range words {
			if !strings.Contains(text, word) {
				missing = word
			}
		}
		if missing == "" {
			return
		}
		if err != nil && ctx.Err() != nil {
			p.t.Fatalf("the page never said %q; it says %q", missing, text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// decide opens the page at an address, types the code that a terminal shows, and presses a button.
func (p page) decide(address, code, client, decision string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address), chromedp.SendKeys(chromedp.CSS("#code"), code+"\r"))
	p.shows(client, code)
	p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("button[value=%s]", decision))))
}
