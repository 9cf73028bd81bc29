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

// browserTimeout limits each action in the browser. It is long enough for a busy machine.
const browserTimeout = 20 * time.Second

// browserPage is a tab of a browser.
type browserPage struct {
	t   *testing.T
	ctx context.Context
}

// approvalPage is where a user approves or denies a login.
type approvalPage interface {
	// decide opens the page at an address, enters the code, and approves or denies the login of client.
	decide(address, code, client, decision string)
	// waitFor waits until the page contains all words.
	waitFor(words ...string)
}

// openPage starts Chromium if it is installed. Without it, openPage returns a formPage.
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
		return browserPage{t, ctx}
	}
	t.Log("no Chromium on PATH: an HTTP client submits the forms")
	return newFormPage(t)
}

func (p browserPage) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// waitFor implements approvalPage.
func (p browserPage) waitFor(words ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserTimeout)
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
			p.t.Fatalf("the page does not show %q, but %q", missing, text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// decide implements approvalPage.
func (p browserPage) decide(address, code, client, decision string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address), chromedp.SendKeys(chromedp.CSS("#code"), code+"\r"))
	p.waitFor(client, code)
	p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("button[value=%s]", decision))))
}
