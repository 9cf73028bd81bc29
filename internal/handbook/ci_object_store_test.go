package handbook_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// objectStore keeps states as a store that speaks S3 would, for those who have its keys.
type objectStore struct {
	url string
	mu  sync.Mutex
	// objects are what is there, by path.
	objects map[string][]byte
	// kept is all that was ever written.
	kept strings.Builder
}

// The store's keys: id and secret. The reader may write nothing.
const (
	storeReader, storeReaderSecret = "reader", "reader-secret-of-the-store"
	storeWriter, storeWriterSecret = "writer", "writer-secret-of-the-store"
)

func newObjectStore(t *testing.T) *objectStore {
	t.Helper()
	s := &objectStore{objects: map[string][]byte{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// ServeHTTP knows what a backend with a lock file asks for.
func (s *objectStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
		}
	}
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	id, _, _ := strings.Cut(credential, "/")
	user, _, overHTTP := r.BasicAuth() // from the backend "http"
	if overHTTP {
		id = user
	}
	content, there := s.objects[r.URL.Path]
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case id != storeWriter && (id != storeReader || !reads):
		refuse(http.StatusForbidden, "AccessDenied")
	case r.URL.Query().Has("list-type"):
		fmt.Fprint(w, "<ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>0</KeyCount></ListBucketResult>")
	case reads && !there:
		refuse(http.StatusNotFound, "NoSuchKey")
	case reads:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content)) // in parts, where it is asked for so
	case r.Method == http.MethodPut && there && r.Header.Get("If-None-Match") == "*":
		refuse(http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut && there && overHTTP && strings.HasSuffix(r.URL.Path, ".tflock"):
		w.WriteHeader(http.StatusConflict)
		if _, err := w.Write(content); err != nil {
			return
		}
	case r.Method == http.MethodPut:
		body, err := unchunked(r)
		if err != nil {
			refuse(http.StatusBadRequest, "IncompleteBody")
			return
		}
		s.objects[r.URL.Path] = body
		s.kept.Write(body)
	case r.Method == http.MethodDelete:
		delete(s.objects, r.URL.Path)
		if !overHTTP {
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		refuse(http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// unchunked is a body without the frames in which some clients sign it.
func unchunked(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var whole bytes.Buffer
	for body := bufio.NewReader(r.Body); ; {
		line, err := body.ReadString('\n')
		if err != nil {
			return nil, err
		}
		var size int64
		if _, err := fmt.Sscanf(line, "%x", &size); err != nil {
			return nil, err
		}
		if size == 0 {
			return whole.Bytes(), nil
		}
		if _, err := io.CopyN(&whole, body, size); err != nil {
			return nil, err
		}
		if _, err := body.Discard(len("\r\n")); err != nil {
			return nil, err
		}
	}
}

// put writes an object as another client would; nil removes it.
func (s *objectStore) put(path string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[path] = content; content == nil {
		delete(s.objects, path)
	}
}

// names are the objects that are there.
func (s *objectStore) names() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.objects {
		all = append(all, path)
	}
	return all
}

// written is all that was ever written.
func (s *objectStore) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.String()
}
