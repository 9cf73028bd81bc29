package cli

import (
	"io"
	"log"
	"os"
	"sync"
)

// discardStandardLog discards what packages write with the standard package log. With GODEBUG=http2debug, net/http and
// the HTTP/2 package of gRPC write headers and up to 256 bytes of each frame there: API keys, secrets and the provider
// configuration. A filter cannot find all secrets, because frames and header compression split and encode them. Nothing
// else is lost: the provider writes to the log of the plugin protocol, the simulator to its own.
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
		d.screen.warn("%s discards what Go libraries log, because with GODEBUG this can contain API keys. "+
			"TF_LOG_PROVIDER=DEBUG logs every request without secrets.", program)
	})
	return len(line), nil
}
