package credentials

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
)

// The known fields of the file.
const (
	fieldCurrent     = "current"
	fieldCredentials = "credentials"
)

// errFormat does not contain the error of encoding/json, which could contain a part of a key.
var errFormat = errors.New("is not valid JSON of the expected format: correct it, or remove it")

// document is the file with its unknown fields, which other versions may have written.
type document struct {
	fields  map[string]json.RawMessage
	entries map[string]json.RawMessage // the credentials by base URL
	file    File                       // the known fields
}

// parse removes white space around the base URLs and the keys of file, which may have been added by hand.
func parse(content []byte) (document, error) {
	var d document
	if json.Unmarshal(content, &d.fields) != nil || d.fields == nil {
		return document{}, errFormat
	}
	for _, known := range []struct {
		name string
		into []any
	}{
		{fieldCurrent, []any{&d.file.Current}},
		{fieldCredentials, []any{&d.entries, &d.file.Credentials}},
	} {
		raw, ok := d.fields[known.name]
		for _, into := range known.into {
			if ok && json.Unmarshal(raw, into) != nil {
				return document{}, errFormat
			}
		}
	}
	d.file.Current = strings.TrimSpace(d.file.Current)
	for baseURL, credential := range d.file.Credentials {
		credential.APIKey = strings.TrimSpace(credential.APIKey)
		d.file.Credentials[baseURL] = credential
	}
	return d, nil
}

// set stores a credential and makes its base URL the current one. It returns the credentials that it replaces, without
// keeping their unknown fields, which belong to the old key.
func (d *document) set(baseURL string, credential Credential) (replaced []Credential, err error) {
	replaced = d.remove(baseURL, func(Credential) bool { return true })
	entry, err := json.Marshal(credential)
	if err != nil {
		return nil, err
	}
	if d.entries == nil {
		d.entries = map[string]json.RawMessage{}
	}
	d.entries[baseURL] = entry
	return replaced, d.setCurrent(baseURL)
}

// remove removes and returns the credentials for a base URL that match.
func (d *document) remove(baseURL string, match func(Credential) bool) (removed []Credential) {
	for known, credential := range d.file.Credentials {
		if Same(known, baseURL) && match(credential) {
			delete(d.entries, known)
			delete(d.file.Credentials, known)
			removed = append(removed, credential)
		}
	}
	return removed
}

// setCurrent sets the default base URL; empty for none.
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
