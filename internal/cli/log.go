package cli

import (
	"io"
	"log"
	"os"
	"sync"
)

// discardStandardLog discards the output of the standard package log. With GODEBUG=http2debug, net/http and the HTTP/2
// package of gRPC write headers and up to 256 bytes of each frame there: API keys, secrets and the provider
// configuration. A filter cannot find all secrets, because frames and header compression split and encode them. The
// provider and the simulator have separate loggers.
func discardStandardLog() {
	log.SetOutput(&discarder{screen: newScreen(io.Discard, os.Stderr)})
}

// discarder is a writer that discards everything, and warns once.
type discarder struct {
	screen *screen
	once   sync.Once
}

// Write implements io.Writer.
func (d *discarder) Write(line []byte) (int, error) {
	d.once.Do(func() {
		d.screen.warn("%s discards the log of Go libraries, because with GODEBUG it can contain API keys. "+
			"TF_LOG_PROVIDER=DEBUG logs every request without secrets.", program)
	})
	return len(line), nil
}
