package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// requestTimeout limits each request. It is short because a user waits at a terminal.
const requestTimeout = 10 * time.Second

// maxRetries is how often a failed request is retried.
const maxRetries = 2

// target is a service and the credentials file for its key.
type target struct {
	baseURL   string
	file      string
	transport http.RoundTripper // nil for the default transport
}

var errNoAddress = errors.New("the address of the service is missing: set " + provider.EnvBaseURL +
	", or log in with \"" + program + " login --base-url URL\"")

// findTarget returns the service at the address of the flag, else of the environment, else of the current login in the
// credentials file. The provider uses the same order, and also removes white space around the address.
func findTarget(baseURL string) (target, error) {
	file, err := credentials.Path()
	if err != nil {
		return target{}, err
	}
	address := cmp.Or(strings.TrimSpace(baseURL), provider.Getenv(provider.EnvBaseURL))
	if address == "" {
		saved, err := credentials.Load(file)
		if err != nil {
			return target{}, err
		}
		address = saved.Current
	}
	if address == "" {
		return target{}, usageError("%w", errNoAddress)
	}
	client, err := rental.New(rental.Config{BaseURL: address})
	if err != nil {
		return target{}, usageError("the address of the service cannot be used: %w", err)
	}
	return target{baseURL: client.BaseURL(), file: file}, nil
}

// connect returns a client with a short request timeout and few retries.
func (s target) connect(apiKey string) (*rental.Client, error) {
	return rental.New(rental.Config{
		BaseURL: s.baseURL, APIKey: apiKey, UserAgent: program + "/" + fullVersion(), Transport: s.transport,
		RequestTimeout: requestTimeout, MaxRetries: maxRetries,
	})
}

// revocation is the state of a key after revoke.
type revocation string

const (
	revoked  revocation = "the key was revoked"
	rejected revocation = "the service does not accept the key" // it may never have
	noKey    revocation = "there was no key"
)

// revoke revokes a key, authorized by that key. A key that the service does not accept is no error.
func (s target) revoke(ctx context.Context, key credentials.Credential) (revocation, error) {
	if key.APIKey == "" {
		return noKey, nil
	}
	client, err := s.connect(key.APIKey)
	if err != nil {
		return "", err
	}
	defer client.CloseIdleConnections()
	if key.KeyID != "" {
		err = client.DeleteAPIKey(ctx, key.KeyID)
	}
	if key.KeyID == "" || rental.IsNotFound(err) { // the id is unknown or wrong, unless the key is gone, too
		_, err = client.GetMe(ctx)
		if err == nil || rental.IsForbidden(err) {
			return "", errors.New("its id is unknown")
		}
	}
	switch {
	case rental.IsUnauthorized(err):
		return rejected, nil
	case err != nil:
		return "", err
	}
	return revoked, nil
}

// revokeElsewhere is how to revoke a key with another one.
const revokeElsewhere = "import it as a gpurent_api_key and destroy that"

// keyName returns the id of a key, or its first characters without an id. It is safe to print.
func keyName(key credentials.Credential) string {
	if key.KeyID != "" {
		return "the key " + rental.Printable(key.KeyID, maxTextLength)
	}
	prefix := key.APIKey[:min(len(key.APIKey)/2, rental.KeyPrefixLength)]
	return fmt.Sprintf("the key that begins with %q", rental.Printable(prefix, maxTextLength))
}
