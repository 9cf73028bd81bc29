package rentaltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
)

// Serve sends a request to a handler without a network. If the handler cuts the connection, it returns
// io.ErrUnexpectedEOF. The end of the request's context does not interrupt the handler.
func Serve(handler http.Handler, req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			if cut, ok := problem.(error); !ok || !errors.Is(cut, http.ErrAbortHandler) {
				panic(problem)
			}
			resp, err = nil, io.ErrUnexpectedEOF
		}
	}()
	served := req.Clone(context.WithoutCancel(req.Context()))
	served.RemoteAddr, served.RequestURI, served.Host = "127.0.0.1:1", req.URL.RequestURI(), req.URL.Host
	if served.Body == nil {
		served.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, served)
	resp = recorder.Result()
	resp.Request = req
	return resp, nil
}
