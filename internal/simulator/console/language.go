package console

import "net/http"

// texts are the texts of the pages by name.
type texts map[string]string

// language returns "ru" or "en", as the browser prefers.
func (c *console) language(r *http.Request) string {
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
