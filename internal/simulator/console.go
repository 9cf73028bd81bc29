package simulator

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	html "html/template"
	"net/http"
	"time"
)

const (
	devicePath = "/device"
	csrfCookie = "gpurent_console"
	csrfField  = "csrf"
)

//go:embed console.html
var consoleFiles embed.FS

var devicePage = html.Must(html.ParseFS(consoleFiles, "console.html"))

// deviceView is what the approval page shows.
type deviceView struct {
	Text       map[string]string
	Lang       string
	Code       string
	ClientName string
	CSRF       string
	// Ask is whether there is something to decide; Message is what there is to say instead.
	Ask     bool
	Message string
}

var consoleTexts = map[string]text{
	"title":    {"Вход с устройства", "Device login"},
	"enter":    {"Введите код, который показывает программа.", "Enter the code that the program shows."},
	"code":     {"Код", "Code"},
	"next":     {"Далее", "Continue"},
	"ask":      {"просит ключ API с полным доступом к аккаунту. Код совпадает с тем, что в терминале?", "asks for an API key with full access to the account. Is this the code in your terminal?"},
	"approve":  {"Разрешить", "Approve"},
	"deny":     {"Отклонить", "Deny"},
	"approved": {"Готово: вернитесь в терминал.", "Approved. Go back to the terminal."},
	"denied":   {"Вход отклонён.", "The login was denied."},
	"stale":    {"Страница устарела, откройте её снова.", "The page is out of date, open it again."},
}

// serveConsole serves the page on which a person approves a device login. The simulator has one account and no
// passwords: whoever sees the page is that account's owner.
func (s *Simulator) serveConsole(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	switch {
	case r.URL.Path == "/" && r.Method == http.MethodGet:
		http.Redirect(w, r, devicePath, http.StatusSeeOther)
	case r.URL.Path != devicePath:
		http.NotFound(w, r)
	case r.Method == http.MethodGet:
		s.showDevice(w, r)
	case r.Method == http.MethodPost:
		s.decideDevice(w, r)
	default:
		h.Set("Allow", "GET, POST")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
	}
}

func (s *Simulator) showDevice(w http.ResponseWriter, r *http.Request) {
	lang := parseLanguage(r.Header.Get("Accept-Language"))
	view := deviceView{Code: r.URL.Query().Get("code")}
	status := http.StatusOK
	if view.Code != "" {
		var e *apiError
		s.mu.Lock()
		s.catchUp()
		switch d := s.world.findUserCode(view.Code); {
		case d == nil:
			e = notFound("Код не найден", "There is no such code")
		case !d.open(s.world.at):
			e = conflict("Код истёк или уже использован", "The code has expired or was already used")
		default:
			view.Ask, view.ClientName, view.Code = true, d.ClientName, d.UserCode
		}
		s.mu.Unlock()
		if e != nil {
			status, view.Message = e.status, e.text.in(lang)
		}
	}
	session := rand.Text()
	if cookie, err := r.Cookie(csrfCookie); err == nil && cookie.Value != "" {
		session = cookie.Value
	}
	http.SetCookie(w, &http.Cookie{
		Name: csrfCookie, Value: session, Path: devicePath, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(time.Hour / time.Second),
	})
	view.CSRF = s.csrfToken(session)
	s.render(w, status, lang, view)
}

func (s *Simulator) decideDevice(w http.ResponseWriter, r *http.Request) {
	lang := parseLanguage(r.Header.Get("Accept-Language"))
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	cookie, err := r.Cookie(csrfCookie)
	if err != nil || !sameOrigin(r) || !hmac.Equal([]byte(r.PostFormValue(csrfField)), []byte(s.csrfToken(cookie.Value))) {
		s.render(w, http.StatusForbidden, lang, deviceView{Message: consoleTexts["stale"].in(lang)})
		return
	}
	decision := r.PostFormValue("decision")
	if decision != "approve" && decision != "deny" {
		s.render(w, http.StatusUnprocessableEntity, lang, deviceView{Message: consoleTexts["stale"].in(lang)})
		return
	}
	if err := s.DecideDeviceCode(r.PostFormValue("code"), decision == "approve"); err != nil {
		e, ok := errors.AsType[*apiError](err)
		if !ok {
			e = fail(codeInternal)
		}
		s.render(w, e.status, lang, deviceView{Message: e.text.in(lang)})
		return
	}
	said := "denied"
	if decision == "approve" {
		said = "approved"
	}
	s.render(w, http.StatusOK, lang, deviceView{Message: consoleTexts[said].in(lang)})
}

func (s *Simulator) render(w http.ResponseWriter, status int, lang language, view deviceView) {
	view.Lang, view.Text = lang.String(), map[string]string{}
	for name, t := range consoleTexts {
		view.Text[name] = t.in(lang)
	}
	var page bytes.Buffer
	if err := devicePage.Execute(&page, view); err != nil {
		s.log.Error("console: page", "error", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	rep := &reply{status: status, contentType: "text/html; charset=utf-8", body: page.Bytes()}
	if err := rep.writeTo(w); err != nil {
		s.log.Debug("client left", "error", err)
	}
}

// csrfToken ties a form to the browser that was shown it.
func (s *Simulator) csrfToken(session string) string {
	mac := hmac.New(sha256.New, s.csrfKey)
	mac.Write([]byte(session))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func newCSRFKey() []byte { return []byte(rand.Text()) }
