package console

import (
	"net/http"
	"net/url"
	"time"
)

const languageCookie = "gpurent_language"

// texts is what the pages say, by name.
type texts map[string]string

// language is "ru" or "en": what was chosen on a page, else what the browser prefers.
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

// chooseLanguage remembers a choice and goes back to the page where it was made.
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
