package cli_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// formPage submits the forms of the approval page, which works without JavaScript. It replaces the browser on machines
// without one.
type formPage struct {
	t      *testing.T
	client *http.Client
	text   string // of the last page
}

func newFormPage(t *testing.T) *formPage {
	t.Helper()
	return &formPage{t: t, client: http.DefaultClient}
}

func (p *formPage) decide(address, code, client, decision string) {
	p.t.Helper()
	page, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	page.RawQuery = url.Values{"code": {code}}.Encode()
	p.send(http.MethodGet, page, nil)
	p.waitFor(client, code)
	page.RawQuery = ""
	form := url.Values{"code": {code}, "decision": {decision}}
	p.send(http.MethodPost, page, form)
}

func (p *formPage) send(method string, page *url.URL, form url.Values) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, page.String(), strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Accept-Language", "en")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", page.Scheme+"://"+page.Host)
	resp, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %v\n%s", resp.Status, err, body)
	}
	p.text = string(body)
}

func (p *formPage) waitFor(words ...string) {
	p.t.Helper()
	for _, word := range words {
		if !strings.Contains(p.text, word) {
			p.t.Fatalf("the page does not show %q:\n%s", word, p.text)
		}
	}
}
