package credentials

import (
	"encoding/json"
	"errors"
	"maps"
)

// The file's fields that this version knows.
const (
	fieldCurrent     = "current"
	fieldCredentials = "credentials"
)

// errForm does not repeat what the parser says: that could be a part of a key.
var errForm = errors.New("is not valid JSON of the right form: mend it, or remove it")

// document is the file as it stands, with what other versions have put there. It is
// never printed.
type document struct {
	fields  map[string]json.RawMessage
	entries map[string]json.RawMessage // the logins, by base URL
	file    File                       // what this version understands of it
}

func parse(content []byte) (document, error) {
	var d document
	if json.Unmarshal(content, &d.fields) != nil || d.fields == nil {
		return document{}, errForm
	}
	for _, known := range []struct {
		name string
		into []any
	}{
		{fieldCurrent, []any{&d.file.Current}},
		{fieldCredentials, []any{&d.entries, &d.file.Credentials}},
	} {
		raw, there := d.fields[known.name]
		for _, into := range known.into {
			if there && json.Unmarshal(raw, into) != nil {
				return document{}, errForm
			}
		}
	}
	return d, nil
}

// put keeps a login and makes its service the current one. It returns the logins
// that it replaces: what else an entry held belonged to the replaced key.
func (d *document) put(baseURL string, login Credential) (replaced []Credential, err error) {
	replaced = d.drop(baseURL, func(Credential) bool { return true })
	entry, err := json.Marshal(login)
	if err != nil {
		return nil, err
	}
	if d.entries == nil {
		d.entries = map[string]json.RawMessage{}
	}
	d.entries[baseURL] = entry
	return replaced, d.setCurrent(baseURL)
}

// drop removes the logins at a base URL that match, and returns them.
func (d *document) drop(baseURL string, match func(Credential) bool) (dropped []Credential) {
	for known, login := range d.file.Credentials {
		if Same(known, baseURL) && match(login) {
			delete(d.entries, known)
			delete(d.file.Credentials, known)
			dropped = append(dropped, login)
		}
	}
	return dropped
}

// setCurrent names the service to use where none is given; empty for none.
func (d *document) setCurrent(baseURL string) error {
	if baseURL == "" {
		delete(d.fields, fieldCurrent)
		return nil
	}
	raw, err := json.Marshal(baseURL)
	if err != nil {
		return err
	}
	if d.fields == nil {
		d.fields = map[string]json.RawMessage{}
	}
	d.fields[fieldCurrent] = raw
	return nil
}

func (d document) encode() ([]byte, error) {
	fields := map[string]json.RawMessage{}
	maps.Copy(fields, d.fields)
	delete(fields, fieldCredentials)
	if len(d.entries) > 0 {
		raw, err := json.Marshal(d.entries)
		if err != nil {
			return nil, err
		}
		fields[fieldCredentials] = raw
	}
	content, err := json.MarshalIndent(fields, "", "  ")
	return append(content, '\n'), err
}
