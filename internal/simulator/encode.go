package simulator

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
)

// reply is a response before it is written.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// jsonReply encodes a body. A reply with status 204 has none.
func jsonReply(status int, body any) *reply {
	r := &reply{status: status, header: http.Header{}}
	if status != http.StatusNoContent {
		r.header.Set("Content-Type", "application/json; charset=utf-8")
		r.body = encodeJSON(body)
	}
	return r
}

// encodeJSON encodes a body, which consists of types that can always be encoded.
func encodeJSON(body any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		panic(err)
	}
	return out.Bytes()
}

type errorView struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    errorCode      `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

type issueView struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// errorReply encodes an error in a language.
func errorReply(e *apiError, l language) *reply {
	view := errorView{errorBody{Code: e.code, Message: e.text.in(l), Details: e.details}}
	if len(e.issues) > 0 {
		issues := make([]issueView, 0, len(e.issues))
		for _, i := range e.issues {
			issues = append(issues, issueView{i.field, i.text.in(l)})
		}
		view.Error.Details = map[string]any{"issues": issues}
	}
	r := jsonReply(e.status, view)
	r.header.Set("Content-Language", l.String())
	maps.Copy(r.header, e.header)
	return r
}

// writeTo writes the reply. An error means that the client disconnected.
func (r *reply) writeTo(w http.ResponseWriter) error {
	h := w.Header()
	maps.Copy(h, r.header)
	if r.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(r.body)))
	}
	w.WriteHeader(r.status)
	_, err := w.Write(r.body)
	return err
}
