// Package rental is the client of the Rental Service API v1. It has one method per operation, one file per collection
// of the API, and an HTTP transport made of small layers, which transport.go assembles.
//
// Amounts are int64 kopecks, sizes are GB and rates are Mbit/s unless a field states another unit. Enumerations are
// string types; unknown values are kept. A nullable scalar is a pointer, and a missing time is the zero time.Time.
// Every error of a call is an *Error.
package rental

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

// Defaults of Config.
const (
	DefaultRequestTimeout = 30 * time.Second
	DefaultMaxRetries     = 10
	DefaultLanguage       = "en"
	DefaultUserAgent      = "gpurent-rental-client"
)

// defaultBackoff pauses for 0.25 to 0.5 s before the first retry, doubles that, and ends at 15 to 30 s.
var defaultBackoff = backoff.Exponential{First: 375 * time.Millisecond, Max: 22500 * time.Millisecond, Jitter: 1.0 / 3}

// Config configures a Client. Only BaseURL is required.
type Config struct {
	// BaseURL is the address of the API and ends with /api/v1; trailing slashes are ignored. It must be https, or http
	// for a loopback host (localhost, 127.0.0.0/8, ::1), and have no user information, query or fragment.
	BaseURL string

	// APIKey authenticates requests. If it is empty, operations that require a key fail without a request.
	APIKey string

	// KeySource is where APIKey comes from, for Error.KeySource.
	KeySource string

	// Language of the API's messages, sent as Accept-Language. Empty: DefaultLanguage.
	Language string

	// UserAgent is the User-Agent header. Empty: DefaultUserAgent.
	UserAgent string

	// RequestTimeout limits one HTTP attempt, from the connection to the last byte of the body. Zero:
	// DefaultRequestTimeout.
	RequestTimeout time.Duration

	// MaxRetries is how often a call is retried after network errors and 5xx responses. Zero: DefaultMaxRetries;
	// negative: no retries. A 429 does not count: the client waits until the API accepts the request.
	MaxRetries int

	// Log receives one line per HTTP attempt, without body, headers and secrets. Nil: no log. It must be safe for
	// concurrent use.
	Log func(ctx context.Context, message string, fields map[string]any)

	// Transport performs HTTP requests. Nil: a clone of http.DefaultTransport, tuned for many parallel calls to one
	// host.
	Transport http.RoundTripper

	// Backoff is the pause before a retry. Zero: 0.5 s, doubled up to 30 s, of which a random half is subtracted.
	Backoff backoff.Exponential

	NotPrinted
}

// Client is a client of the API. It is safe for concurrent use. Create it with New.
//
// A client whose API has not answered within 10 s of its first request, or only with 5xx, gives up: calls that wait
// end, except a write in flight, and further calls fail without a request, unless the write in flight is answered.
// After the first answer, failed requests are retried as Config states. See IsUnreachable.
type Client struct {
	base           *url.URL
	apiKey         string
	keySource      string
	language       string
	userAgent      string
	transport      http.RoundTripper // the layers
	connections    http.RoundTripper // the last one of them
	reach          *reachability
	clock          *serverClock
	requestTimeout time.Duration
	writes         *sync.Map // *atomic.Uint64 by the first element of the path
	single         bool      // one attempt for each request
	NotPrinted
}

// New returns a client, or an error if the configuration is invalid. It sends no request.
func New(config Config) (*Client, error) {
	base, err := parseBaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	config = config.withDefaults(base)
	headers := map[string]string{"API key": config.APIKey, "language": config.Language, "user agent": config.UserAgent}
	for name, value := range headers {
		if !isHeaderValue(value) {
			return nil, fmt.Errorf("the %s contains characters that cannot be sent in an HTTP header", name)
		}
	}
	reach := &reachability{baseURL: base.String()}
	return &Client{
		base: base, apiKey: config.APIKey, keySource: config.KeySource,
		language: config.Language, userAgent: config.UserAgent,
		transport: newTransport(config, reach), connections: config.Transport, reach: reach,
		requestTimeout: config.RequestTimeout, clock: &serverClock{}, writes: &sync.Map{},
	}, nil
}

func (c Config) withDefaults(base *url.URL) Config {
	c.Language = cmp.Or(c.Language, DefaultLanguage)
	c.UserAgent = cmp.Or(c.UserAgent, DefaultUserAgent)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, DefaultRequestTimeout)
	c.MaxRetries = cmp.Or(c.MaxRetries, DefaultMaxRetries)
	c.Backoff = cmp.Or(c.Backoff, defaultBackoff)
	if c.Transport == nil {
		c.Transport = newHTTPTransport(base)
	}
	return c
}

// WithoutRetries returns the client for a caller that repeats its calls: it sends one attempt for each request.
func (c *Client) WithoutRetries() *Client {
	single := *c
	single.single = true
	return &single
}

// Authenticated reports whether an API key is configured. It does not check the key.
func (c *Client) Authenticated() bool { return c.apiKey != "" }

// KeyHash identifies the API key in a place that must not contain it. It may be stored: nobody can guess the 40 random
// characters of a key, so they do not follow from a hash. The label makes the hash useless to other programs.
func (c *Client) KeyHash() string {
	hash := sha256.Sum256([]byte("gpurent API key " + c.apiKey))
	return hex.EncodeToString(hash[:16])
}

// BaseURL returns the address of the API, without a trailing slash.
func (c *Client) BaseURL() string { return c.base.String() }

// RequestTimeout returns the timeout of one HTTP attempt.
func (c *Client) RequestTimeout() time.Duration { return c.requestTimeout }

// Writes returns how many calls other than GET have ended below the first element of a path, such as "instances". It
// counts failed calls, too, because the API may have performed them.
func (c *Client) Writes(path string) uint64 { return c.writeCount(path).Load() }

func (c *Client) writeCount(path string) *atomic.Uint64 {
	count, _ := c.writes.LoadOrStore(path, new(atomic.Uint64))
	return count.(*atomic.Uint64)
}

// Invalidate makes cached results under the first element of a path, such as "instances", as old as after a write.
func (c *Client) Invalidate(path string) { c.writeCount(path).Add(1) }

// CloseIdleConnections closes the keep-alive connections that are not in use. The client stays usable.
func (c *Client) CloseIdleConnections() {
	(&http.Client{Transport: c.connections}).CloseIdleConnections()
}
