package simulator

import "slices"

func (c *call) listAPIKeys() (any, error) {
	active := func(k *apiKey) bool { return k.active(c.at) }
	return listNumbered(c, "api-keys", parseQuery(c.r.URL), c.keys, false, active, viewAPIKey)
}

var (
	textNoScopes = text{"нужно хотя бы одно право", "at least one scope is required"}
	textScopes   = text{"допустимые значения: " + joined(allScopes), "must be among: " + joined(allScopes)}
)

// createAPIKey never gives a key more than the key that asks for it has.
func (c *call) createAPIKey() (any, error) {
	f, err := parseFields(c.body)
	if err != nil {
		return nil, err
	}
	f.need("name", "scopes")
	name := f.str("name", 1, 60)
	asked := f.strings("scopes", 100)
	if asked != nil && len(asked) == 0 {
		f.add("scopes", textNoScopes)
	}
	if slices.ContainsFunc(asked, func(scope string) bool { return !slices.Contains(allScopes, scope) }) {
		f.add("scopes", textScopes)
	}
	var days *int64
	if !f.null("expires_in_days") {
		days = f.integer("expires_in_days", 1, 3650)
	}
	if err := f.end(); err != nil {
		return nil, err
	}
	var scopes []string
	for _, scope := range allScopes {
		if !slices.Contains(asked, scope) {
			continue
		}
		if !c.key.has(scope) {
			return nil, fail(codeForbidden).saying("Нельзя выдать права, которых нет у этого ключа", "A key cannot issue scopes that it lacks itself")
		}
		scopes = append(scopes, scope)
	}
	if c.activeKeys() >= maxAPIKeys {
		return nil, conflict("Достигнут предел числа ключей", "The limit of API keys is reached")
	}
	k, secret := c.issueKey(*name, sourceAPI, scopes, days)
	return apiKeyCreatedView{viewAPIKey(k), secret}, nil
}

func (w *world) activeKeys() (n int) {
	for _, k := range w.keys {
		if k.active(w.at) {
			n++
		}
	}
	return n
}

// deleteAPIKey takes effect at once, also for the key in use.
func (c *call) deleteAPIKey() (any, error) {
	for _, k := range c.keys {
		if k.ID == c.params["id"] && k.active(c.at) {
			k.Revoked = true
			return nil, nil
		}
	}
	return nil, notFound("Ключ не найден", "There is no such key")
}
