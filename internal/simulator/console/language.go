package console

import (
	"net/http"
	"net/url"
	"time"
)

const languageCookie = "gpurent_language"

// texts are the texts of the pages by name.
type texts map[string]string

// language returns "ru" or "en": the choice in the cookie, or else the preference of the browser.
func (c *console) language(r *http.Request) string {
	if cookie, err := r.Cookie(languageCookie); err == nil && (cookie.Value == "ru" || cookie.Value == "en") {
		return cookie.Value
	}
	if c.Russian(r.Header.Get("Accept-Language")) {
		return "ru"
	}
	return "en"
}

func (c *console) text(r *http.Request) texts {
	if c.language(r) == "ru" {
		return russian
	}
	return english
}

// chooseLanguage stores the choice in a cookie and redirects to the page where it was made.
func (c *console) chooseLanguage(w http.ResponseWriter, r *http.Request) {
	to := r.URL.Query().Get("to")
	if _, known := map[string]bool{"ru": true, "en": true}[to]; !known {
		http.NotFound(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: languageCookie, Value: to, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(365 * 24 * time.Hour / time.Second),
	})
	back := "/"
	if r.URL.Query().Get("page") == "device" {
		back = DevicePath
		if code := r.URL.Query().Get("code"); code != "" {
			back += "?code=" + url.QueryEscape(code)
		}
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}
