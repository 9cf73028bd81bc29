package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// answerTimeout is how long somebody at a terminal waits for one answer.
const answerTimeout = 10 * time.Second

// site is what a login is between: a service, and the file that keeps its key.
type site struct {
	baseURL   string
	file      string
	transport http.RoundTripper // nil: the network
}

var errNoAddress = errors.New("the address of the service is missing: it is neither given with --base-url, nor by " + provider.EnvBaseURL +
	", nor as the current one in the credentials file")

// findSite looks for the address as the provider does: what was given here, the
// environment, the credentials file.
func findSite(given string) (site, error) {
	file, err := credentials.Path()
	if err != nil {
		return site{}, err
	}
	address := cmp.Or(given, os.Getenv(provider.EnvBaseURL))
	if address == "" {
		known, err := credentials.Load(file)
		if err != nil {
			return site{}, err
		}
		address = known.Current
	}
	if address == "" {
		return site{}, &usageError{errNoAddress}
	}
	client, err := rental.New(rental.Config{BaseURL: address})
	if err != nil {
		return site{}, &usageError{fmt.Errorf("the service's address cannot be used: %w", err)}
	}
	return site{baseURL: client.BaseURL(), file: file}, nil
}

// connect makes a client that fails soon where it does not get through: somebody is
// waiting. A poll, which is repeated anyway, passes no retries.
func (s site) connect(apiKey string, retries int) (*rental.Client, error) {
	return rental.New(rental.Config{
		BaseURL: s.baseURL, APIKey: apiKey, UserAgent: program + "/" + fullVersion(), Transport: s.transport,
		RequestTimeout: answerTimeout, MaxRetries: retries,
	})
}

// noRetries is for connect.
const noRetries = -1

var errUnknownKey = errors.New("its id is not known")

// revoke revokes a key by the key itself. One that is gone already is no error.
func (s site) revoke(ctx context.Context, key credentials.Credential) error {
	client, err := s.connect(key.APIKey, 2)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	id := key.KeyID
	if id == "" {
		id, err = identify(ctx, client, key.APIKey)
	}
	if err == nil {
		err = client.DeleteAPIKey(ctx, id)
	}
	if rental.IsUnauthorized(err) || rental.IsNotFound(err) {
		return nil
	}
	return err
}

// identify finds the id of a key that was put into the file without one. Where
// another begins in the same way, none is named.
func identify(ctx context.Context, client *rental.Client, key string) (string, error) {
	var ids []string
	for known, err := range client.ListAPIKeys(ctx, rental.ListOptions{}) {
		if rental.IsForbidden(err) {
			return "", errUnknownKey
		}
		if err != nil {
			return "", err
		}
		if len(known.Prefix) >= rental.KeyPrefixLength && strings.HasPrefix(key, known.Prefix) {
			ids = append(ids, known.ID)
		}
	}
	if len(ids) != 1 {
		return "", errUnknownKey
	}
	return ids[0], nil
}

// keyName is what a key is called in the service's console, as far as it may be shown.
func keyName(key credentials.Credential) string {
	if key.KeyID != "" {
		return "the key " + rental.Printable(key.KeyID, maxShown)
	}
	return fmt.Sprintf("the key that begins with %q", rental.Printable(key.APIKey[:min(len(key.APIKey)/2, rental.KeyPrefixLength)], maxShown))
}
