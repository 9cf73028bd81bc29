package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	csrfCookie = "gpurent_console"
	csrfField  = "csrf"
	maxForm    = 1 << 16 // bytes
)

// showLogin shows the approval page. There is one account without a password: everyone who can open the page acts as
// the owner of the account.
func (c *console) showLogin(w http.ResponseWriter, r *http.Request) {
	v := view{Lang: c.language(r), Text: c.text(r), Code: strings.TrimSpace(r.URL.Query().Get("code"))}
	status := http.StatusOK
	if v.Code != "" {
		login, err := c.service.Login(v.Code)
		if err == nil {
			v.Login = &login
		} else {
			status, v.Message = c.explain(r, err)
		}
	}
	session := rand.Text()
	if cookie, err := r.Cookie(csrfCookie); err == nil && cookie.Value != "" {
		session = cookie.Value
	}
	http.SetCookie(w, &http.Cookie{
		Name: csrfCookie, Value: session, Path: DevicePath, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(time.Hour / time.Second),
	})
	v.CSRF = c.csrf.token(session)
	c.write(w, status, typeHTML, v.fill(v.device()))
}

func (c *console) decideLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	text := c.text(r)
	cookie, err := r.Cookie(csrfCookie)
	if err != nil || !sameOrigin(r) || !c.csrf.valid(cookie.Value, r.PostFormValue(csrfField)) {
		c.message(w, r, http.StatusForbidden, text["stale"])
		return
	}
	decision := r.PostFormValue("decision")
	if decision != "approve" && decision != "deny" {
		c.message(w, r, http.StatusUnprocessableEntity, text["stale"])
		return
	}
	if err := c.service.Decide(r.PostFormValue("code"), decision == "approve"); err != nil {
		status, message := c.explain(r, err)
		c.message(w, r, status, message)
		return
	}
	message := text["denied"]
	if decision == "approve" {
		message = text["approved"]
	}
	c.message(w, r, http.StatusOK, message)
}

// explain returns the status and the message of an error.
func (c *console) explain(r *http.Request, err error) (status int, message string) {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		c.Log.Error("console: login", "error", err)
		return http.StatusInternalServerError, c.text(r)["broken"]
	}
	if c.language(r) == "ru" {
		return refusal.Status, refusal.RU
	}
	return refusal.Status, refusal.EN
}

// sameOrigin reports whether a form was sent by a page of this server.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

// csrfKey signs CSRF tokens. A token is bound to the session cookie of a browser.
type csrfKey []byte

func newCSRFKey() csrfKey { return csrfKey(rand.Text()) }

func (k csrfKey) token(session string) string {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(session))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (k csrfKey) valid(session, token string) bool {
	return session != "" && hmac.Equal([]byte(token), []byte(k.token(session)))
}
