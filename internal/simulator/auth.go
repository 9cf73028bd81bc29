package simulator

import (
	"net/http"
	"strings"
)

// bearer returns the token of an Authorization header, and whether the header was sent.
func bearer(h http.Header) (token string, sent bool) {
	header := h.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	return strings.TrimSpace(token), header != ""
}

// callerKey returns the active key of a request, or nil.
func (e *engine) callerKey(h http.Header) *apiKey {
	token, _ := bearer(h)
	if k := e.findKeyBySecret(token); k != nil && k.active(e.Now) {
		return k
	}
	return nil
}

// authorize checks the key of a call and updates its last use. A public operation ignores the key.
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
		return newError(codeUnauthorized).withHeader("WWW-Authenticate", "Bearer")
	}
	c.key = k
	k.LastUsedAt = new(c.Now)
	if a == accessOptional {
		return nil
	}
	if c.Account.Blocked {
		return newError(codeForbidden).withText(text{"Аккаунт заблокирован", "The account is blocked"})
	}
	if !k.has(string(a)) {
		return newError(codeForbidden).withText(text{"У ключа нет права %s", "The key lacks the scope %s"}.with(a))
	}
	return nil
}
