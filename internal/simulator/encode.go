package simulator

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"sync"
)

// reply is a response before it is written.
type reply struct {
	status      int
	header      http.Header
	contentType string
	body        []byte
}

// jsonReply encodes a body; a nil body with status 204 stays empty.
func jsonReply(status int, body any) (*reply, error) {
	r := &reply{status: status, header: http.Header{}}
	if status == http.StatusNoContent {
		return r, nil
	}
	var err error
	r.contentType = "application/json; charset=utf-8"
	r.body, err = encodeJSON(body)
	return r, err
}

// bodies are buffers of answers that were sent, to be used again: a page of instances is large.
var bodies sync.Pool

// keepBody is the size from which a buffer is worth keeping.
const keepBody = 16 << 10

// appender writes itself as JSON, where that is worth the code.
type appender interface{ appendJSON(b []byte) []byte }

func encodeJSON(body any) ([]byte, error) {
	if a, ok := body.(appender); ok {
		buffer, ok := bodies.Get().(*[]byte)
		if !ok {
			buffer = new([]byte)
		}
		return append(a.appendJSON((*buffer)[:0]), '\n'), nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(body)
	return out.Bytes(), err
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

// errorReply renders an error in a language.
func errorReply(e *apiError, l language) (*reply, error) {
	view := errorView{errorBody{Code: e.code, Message: e.text.in(l), Details: e.details}}
	if len(e.issues) > 0 {
		issues := make([]issueView, 0, len(e.issues))
		for _, i := range e.issues {
			issues = append(issues, issueView{i.field, i.text.in(l)})
		}
		view.Error.Details = map[string]any{"issues": issues}
	}
	r, err := jsonReply(e.status, view)
	if err != nil {
		return nil, err
	}
	r.header.Set("Content-Language", l.String())
	maps.Copy(r.header, e.header)
	return r, nil
}

// writeTo sends the reply. An error means that the client has gone, which nobody is left to hear about.
func (r *reply) writeTo(w http.ResponseWriter) error {
	h := w.Header()
	maps.Copy(h, r.header)
	if r.contentType != "" {
		h.Set("Content-Type", r.contentType)
		h.Set("Content-Length", strconv.Itoa(len(r.body)))
	}
	w.WriteHeader(r.status)
	_, err := w.Write(r.body)
	if cap(r.body) >= keepBody {
		bodies.Put(&r.body)
	}
	return err
}
