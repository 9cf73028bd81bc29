package simulator

import (
	"net/http"
	"slices"
)

func (c *call) listAPIKeys() (any, error) {
	active := func(k *apiKey) bool { return k.active(c.Now) }
	return listPage(c, "api-keys", parseQuery(c.r.URL), c.Keys, false, active, viewAPIKey)
}

var (
	textNoScopes = text{"нужно хотя бы одно право", "at least one scope is required"}
	textScopes   = text{"допустимые значения: " + joined(allScopes), "must be one of: " + joined(allScopes)}
)

// createAPIKey does not grant scopes that the issuing key lacks.
func (c *call) createAPIKey() (any, error) {
	f := c.fields
	f.require("name", "scopes")
	name := f.str("name", 1, 60)
	requested := f.strings("scopes", 100)
	if requested != nil && len(requested) == 0 {
		f.add("scopes", textNoScopes)
	}
	if slices.ContainsFunc(requested, func(scope string) bool { return !slices.Contains(allScopes, scope) }) {
		f.add("scopes", textScopes)
	}
	var days *int64
	if !f.isNull("expires_in_days") {
		days = f.integer("expires_in_days", 1, 3650)
	}
	if err := f.finish(); err != nil {
		return nil, err
	}
	var scopes []string
	for _, scope := range allScopes {
		if !slices.Contains(requested, scope) {
			continue
		}
		if !c.key.has(scope) {
			return nil, newError(codeForbidden).withText(text{"Нельзя выдать права, которых нет у этого ключа",
				"A key cannot issue scopes that it lacks itself"})
		}
		scopes = append(scopes, scope)
	}
	if c.activeKeys() >= maxAPIKeys {
		return nil, conflict(text{"Достигнут предел числа ключей", "The limit of API keys is reached"})
	}
	c.status = http.StatusCreated
	k, secret := c.issueKey(*name, sourceAPI, scopes, days)
	return apiKeyCreatedView{viewAPIKey(k), secret}, nil
}

func (e *engine) activeKeys() (n int) {
	for _, k := range e.Keys {
		if k.active(e.Now) {
			n++
		}
	}
	return n
}

// deleteAPIKey takes effect at once, also for the key in use.
func (c *call) deleteAPIKey() (any, error) {
	for _, k := range c.Keys {
		if k.ID == c.params["id"] && k.active(c.Now) {
			k.Revoked = true
			return nil, nil
		}
	}
	return nil, notFound(text{"Ключ не найден", "API key not found"})
}
