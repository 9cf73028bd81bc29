package credentials

import (
	"encoding/json"
	"errors"
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
	if json.Unmarshal(content, &d.fields) != nil || json.Unmarshal(content, &d.file) != nil || d.fields == nil {
		return document{}, errFormat
	}
	if raw, ok := d.fields[fieldCredentials]; ok && json.Unmarshal(raw, &d.entries) != nil {
		return document{}, errFormat
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
	d.file.Current = baseURL
	return replaced, setField(&d.entries, baseURL, credential)
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

func (d document) encode() ([]byte, error) {
	delete(d.fields, fieldCurrent)
	delete(d.fields, fieldCredentials)
	var err error
	if d.file.Current != "" {
		err = setField(&d.fields, fieldCurrent, d.file.Current)
	}
	if len(d.entries) > 0 {
		err = errors.Join(err, setField(&d.fields, fieldCredentials, d.entries))
	}
	if err != nil {
		return nil, err
	}
	content, err := json.MarshalIndent(d.fields, "", "  ")
	return append(content, '\n'), err
}

// setField sets a field of an object, which may be nil.
func setField(object *map[string]json.RawMessage, name string, value any) error {
	raw, err := json.Marshal(value)
	if *object == nil {
		*object = map[string]json.RawMessage{}
	}
	(*object)[name] = raw
	return err
}
