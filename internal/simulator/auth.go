package simulator

import (
	"net/http"
	"strings"
)

// bearer returns the token of an Authorization header, and whether a header was sent at all.
func bearer(h http.Header) (token string, sent bool) {
	header := h.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	return strings.TrimSpace(token), header != ""
}

// callerKey returns the active key that a request bears, or nil.
func (w *world) callerKey(h http.Header) *apiKey {
	token, _ := bearer(h)
	if k := w.findSecret(token); k != nil && k.active(w.at) {
		return k
	}
	return nil
}

// authorize lets a call through, or not, and marks its key as used. A public operation does not look at the key.
func (c *call) authorize(a access) error {
	if a == accessPublic {
		return nil
	}
	_, sent := bearer(c.r.Header)
	if a == accessOptional && !sent {
		return nil
	}
	k := c.callerKey(c.r.Header)
	if k == nil {
		return fail(codeUnauthorized).withHeader("WWW-Authenticate", "Bearer")
	}
	c.key = k
	k.LastUsedAt = new(c.at)
	if a == accessOptional {
		return nil
	}
	if c.account.Blocked {
		return fail(codeForbidden).saying("Аккаунт заблокирован", "The account is blocked")
	}
	if !k.has(string(a)) {
		e := fail(codeForbidden)
		e.text = text{"У ключа нет права %s", "The key lacks the scope %s"}.with(a)
		return e
	}
	return nil
}
