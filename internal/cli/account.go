package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// connectAccount returns a client for the account of the user, without a key if there is none. The address is that of
// the flag, else of the environment, else of the current login, and the key that of the environment, else of the login
// at the address. As in the provider, a key of the environment is never sent to the address of the login.
func connectAccount(baseURL string) (*rental.Client, error) {
	address := cmp.Or(strings.TrimSpace(baseURL), provider.Getenv(provider.EnvBaseURL))
	key := provider.Getenv(provider.EnvAPIKey)
	switch {
	case key != "" && address == "":
		return nil, usageError("the address of the service for the key in %s is missing: set %s", provider.EnvAPIKey,
			provider.EnvBaseURL)
	case key == "":
		found, err := findTarget(baseURL)
		if err != nil {
			return nil, err
		}
		file, err := credentials.Load(found.file)
		if err != nil {
			return nil, err
		}
		address, key = found.baseURL, file.Key(found.baseURL)
	}
	client, err := rental.New(rental.Config{BaseURL: address, APIKey: key, UserAgent: program + "/" + fullVersion()})
	if err != nil {
		return nil, usageError("the address or the key cannot be used: %w", err)
	}
	return client, nil
}

// keyAdvice is what to do about an API key that the service rejects; empty for another error.
func keyAdvice(err error) string {
	if !rental.IsUnauthorized(err) {
		return ""
	}
	return fmt.Sprintf(". Check %s, or log in with \"%s login\"", provider.EnvAPIKey, program)
}
