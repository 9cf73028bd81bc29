// Package rental is the client of the Rental Service API v1: one method per operation, one file per noun, and a transport made of
// small layers that transport.go puts together.
//
// Money is int64 kopecks, sizes are GB, rates are Mbit/s unless a field says otherwise. Enumerations are string types whose unknown
// values pass through. A nullable scalar is a pointer; an absent time is the zero time.Time. Every failure of a call is an *Error.
package rental

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of Config.
const (
	DefaultRequestTimeout = 30 * time.Second
	DefaultMaxRetries     = 10
	DefaultLanguage       = "en"
	DefaultUserAgent      = "gpurent-rental-client"
)

// Config says how to reach the service. Only BaseURL is required.
type Config struct {
	// BaseURL is the service's address and ends with /api/v1; a trailing slash is tolerated. It must be https, or http for a
	// loopback host (localhost, 127.0.0.0/8, ::1), and carry no user information, query or fragment.
	BaseURL string

	// APIKey authenticates private operations. Empty: only public operations work, private ones fail without a request.
	APIKey string

	// Language of the service's messages, sent as Accept-Language. Empty: DefaultLanguage.
	Language string

	// UserAgent names the program. Empty: DefaultUserAgent.
	UserAgent string

	// RequestTimeout bounds one HTTP attempt from the connection to the last byte of the body. Zero: DefaultRequestTimeout.
	RequestTimeout time.Duration

	// MaxRetries is how often a call is repeated after network errors and 5xx answers. Zero: DefaultMaxRetries; negative: never.
	// A 429 is waited out and not counted.
	MaxRetries int

	// Log receives one line per HTTP attempt, never a body, a header or a secret. Nil: off. It must be safe for concurrent use.
	Log func(ctx context.Context, message string, fields map[string]any)

	// Budgets are the rate budgets to spend from, shared with other clients of the process. Nil: budgets of its own.
	Budgets *Budgets

	// Transport does the HTTP. Nil: a clone of http.DefaultTransport tuned for many parallel calls to one host.
	Transport http.RoundTripper

	// Backoff is the pause before retry number attempt, counted from 0. Nil: exponential from 0.5 s to 30 s with jitter.
	Backoff func(attempt int) time.Duration
}

// String describes the configuration without the key.
func (c Config) String() string {
	return fmt.Sprintf("rental.Config{%q, key: %t}", printableURL(c.BaseURL), c.APIKey != "")
}

// GoString is String: %#v must not print the key either.
func (c Config) GoString() string { return c.String() }

// Client calls the service. It is safe for concurrent use; make one with New.
type Client struct {
	base      *url.URL
	apiKey    string
	transport http.RoundTripper
	idle      idleCloser // nil when the transport cannot
	ahead     serviceClock
	patience  time.Duration
	budget    *gate    // of requests with the key
	writes    sync.Map // of *atomic.Uint64, by the first element of the path
}

type idleCloser interface{ CloseIdleConnections() }

// New checks the configuration and makes a client; it sends nothing.
func New(config Config) (*Client, error) {
	base, err := parseBaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	config = config.withDefaults(base)
	for name, value := range map[string]string{"API key": config.APIKey, "language": config.Language, "user agent": config.UserAgent} {
		if !isHeaderText(value) {
			return nil, fmt.Errorf("the %s has characters that cannot be sent in an HTTP header", name)
		}
	}
	if config.RequestTimeout < 0 {
		return nil, fmt.Errorf("the request timeout %s is negative", config.RequestTimeout)
	}
	client := &Client{base: base, apiKey: config.APIKey, transport: newTransport(config), patience: config.RequestTimeout}
	client.budget = config.Budgets.gate(budgetOf{config.BaseURL, config.APIKey})
	if idle, ok := config.Transport.(idleCloser); ok {
		client.idle = idle
	}
	return client, nil
}

func (c Config) withDefaults(base *url.URL) Config {
	if c.Language == "" {
		c.Language = DefaultLanguage
	}
	if c.UserAgent == "" {
		c.UserAgent = DefaultUserAgent
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	if c.MaxRetries == 0 {
		c.MaxRetries = DefaultMaxRetries
	}
	if c.Budgets == nil {
		c.Budgets = &Budgets{}
	}
	if c.Transport == nil {
		c.Transport = newHTTPTransport(base)
	}
	if c.Backoff == nil {
		c.Backoff = exponentialBackoff
	}
	return c
}

// Authenticated reports whether a key is configured; it does not ask the service whether the key is good.
func (c *Client) Authenticated() bool { return c.apiKey != "" }

// BaseURL is the service's address, without a trailing slash.
func (c *Client) BaseURL() string { return c.base.String() }

// RequestTimeout is how long one HTTP attempt may take.
func (c *Client) RequestTimeout() time.Duration { return c.patience }

// Writes is how many requests of this client that may have changed something under the first element of a path, such as
// "instances", have ended, whatever came of them.
func (c *Client) Writes(under string) uint64 { return c.writesUnder(under).Load() }

func (c *Client) writesUnder(under string) *atomic.Uint64 {
	count, _ := c.writes.LoadOrStore(under, new(atomic.Uint64))
	return count.(*atomic.Uint64)
}

// CloseIdleConnections closes the kept-alive connections that are not in use. Calls may follow.
func (c *Client) CloseIdleConnections() {
	if c.idle != nil {
		c.idle.CloseIdleConnections()
	}
}

// String names the client's service, never its key.
func (c *Client) String() string { return fmt.Sprintf("rental.Client(%s)", c.base) }

// GoString is String: %#v must not print the key either.
func (c *Client) GoString() string { return c.String() }
